#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// Where a model is served.
struct ModelAddress {
  std::string server;  ///< http(s)://host[:port], and the path of a gateway if there is one
  std::string path;    ///< /v2/models/NAME[/versions/V]
};

/// Takes an address of a model apart. Throws Error(usage) if it is none, or holds a user name.
ModelAddress read_model_address(const std::string& address);

/// A model on a server that speaks the Open Inference Protocol, version 2, over HTTP.
std::unique_ptr<Model> open_http_model(const std::string& address, const ModelOptions& options,
                                       std::span<const double> example);

}  // namespace harmonia
