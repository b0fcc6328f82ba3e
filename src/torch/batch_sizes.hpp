#pragma once

#include <torch/script.h>

#include <cstddef>

namespace harmonia {

/// Whether the module has convolutions: cuDNN makes plans for them anew for every size of a batch, which
/// takes longer than the batch itself.
bool has_convolutions(const torch::jit::Module& module);

/// How many rows a batch is filled up to, so that few sizes occur: the next power of two, or `most` if the
/// batch is no larger than that.
std::size_t filled_size(std::size_t rows, std::size_t most);

}  // namespace harmonia
