#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "harmonia/core/run.hpp"
#include "harmonia/model/open_model.hpp"
#include "harmonia/model/training.hpp"

/// What the library and libharmonia_torch, which it loads, have to agree about.
namespace harmonia {

/// What libharmonia_torch is asked to open.
struct TorchRequest {
  std::string path;   ///< as the user wrote it
  std::string bytes;  ///< of the file; taken
  std::string sha256;
  const ModelOptions* options = nullptr;
  std::span<const double> example;
};

/// The names of the functions that libharmonia_torch exports, and their types.
constexpr const char* kTorchSourcesName = "harmonia_torch_sources";
constexpr const char* kTorchOpenName = "harmonia_torch_open";
constexpr const char* kTorchTrainName = "harmonia_torch_train";
/// HARMONIA_SOURCES as it was built with: version and hash of the headers that both sides share.
using TorchSourcesFunction = const char*();
/// The caller owns the model. Throws Error.
using TorchOpenFunction = Model*(TorchRequest&);
/// What was checked by check_training(). Throws Error.
using TorchTrainFunction = void(const TrainingOptions&, const Training&, Run&);

}  // namespace harmonia
