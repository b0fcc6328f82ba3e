#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

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

/// Equal on both sides, or they were built from different sources.
struct TorchInterface {
  std::string_view version;
  std::size_t info_bytes, options_bytes, request_bytes, training_bytes, epoch_bytes;

  bool operator==(const TorchInterface&) const = default;
};
constexpr TorchInterface kTorchInterface{HARMONIA_VERSION,
                                         sizeof(ModelInfo),
                                         sizeof(ModelOptions),
                                         sizeof(TorchRequest),
                                         sizeof(Training) + sizeof(TrainingOptions),
                                         sizeof(TrainingEpoch)};

/// The names of the functions that libharmonia_torch exports, and their types.
constexpr const char* kTorchInterfaceName = "harmonia_torch_interface";
constexpr const char* kTorchOpenName = "harmonia_torch_open";
constexpr const char* kTorchTrainName = "harmonia_torch_train";
using TorchInterfaceFunction = const TorchInterface*();
/// The caller owns the model. Throws Error.
using TorchOpenFunction = Model*(TorchRequest&);
/// What was checked by check_training(). Throws Error.
using TorchTrainFunction = void(const TrainingOptions&, const Training&, Run&);

}  // namespace harmonia
