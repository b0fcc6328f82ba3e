#pragma once

#include <string>

#include "torch_interface.hpp"

namespace harmonia {

/// The function of libharmonia_torch that opens a model; the library is loaded by the first call, and stays.
/// Throws Error(usage), naming `model`, if it is not found, cannot be loaded or is of another version.
TorchOpenFunction& torch_library(const std::string& model);

}  // namespace harmonia
