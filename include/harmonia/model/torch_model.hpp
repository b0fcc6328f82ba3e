#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// Opens a TorchScript file (torch.jit.save) with libharmonia_torch, a library of its own that is loaded by
/// the first call: $HARMONIA_TORCH, or one beside the program, beside what holds this function, or where it
/// was installed. The module is put into evaluation mode, runs on options.device and has gradients.
///
/// A row has options.row_shape, or is a plain list of numbers if that is empty or the module refuses it. The
/// module answers a batch with a tensor whose rows are the batch's, the first of a tuple or list; it is asked
/// the example, twice, to learn how many outputs it has. Outputs are taken as they are.
///
/// Throws Error(usage) if the library or the device is not there, Error(input) for a file that is no
/// TorchScript, Error(model) if the module fails on the example.
std::unique_ptr<Model> open_torch_model(const std::string& path, const ModelOptions& options,
                                        std::span<const double> example);

/// Whether the first bytes of a file are those of an archive that PyTorch wrote.
bool looks_like_torch(std::string_view head);

}  // namespace harmonia
