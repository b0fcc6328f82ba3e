#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// A model on a server that speaks the Open Inference Protocol, version 2, over HTTP.
std::unique_ptr<Model> open_http_model(const std::string& address, const ModelOptions& options,
                                       std::span<const double> example);

}  // namespace harmonia
