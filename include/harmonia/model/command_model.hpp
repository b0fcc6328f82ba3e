#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// A program that answers rows: each row goes to its standard input as a line of comma-separated numbers, and
/// it writes one line of comma-separated outputs per row, in order. One process per calling thread, kept
/// running.
std::unique_ptr<Model> open_command_model(const std::string& address, const ModelOptions& options,
                                          std::span<const double> example);

}  // namespace harmonia
