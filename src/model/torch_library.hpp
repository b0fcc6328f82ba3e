#pragma once

#include <string>

#include "torch_interface.hpp"

namespace harmonia {

/// The functions of libharmonia_torch.
struct TorchLibrary {
  TorchOpenFunction* open = nullptr;
  TorchTrainFunction* train = nullptr;
};

/// The library, which is loaded by the first call, and stays. Throws Error(usage), naming who needs it
/// ("model net.pt"), if it is not found, cannot be loaded or is of another version.
const TorchLibrary& torch_library(const std::string& who);

}  // namespace harmonia
