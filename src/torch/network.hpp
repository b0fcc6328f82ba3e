#pragma once

#include <torch/script.h>

#include <cstdint>
#include <vector>

#include "harmonia/model/training.hpp"

namespace harmonia {

/// A module of TorchScript with the layers of `shape`, its parameters (weight0, bias0, …) drawn uniformly
/// within 1 / √(inputs of the unit).
torch::jit::Module new_network(const NetworkShape& shape, at::ScalarType type, std::uint64_t seed);

/// The weights of its fully connected layers, first to last.
std::vector<at::Tensor> connected_weights(const torch::jit::Module& network, const NetworkShape& shape);

}  // namespace harmonia
