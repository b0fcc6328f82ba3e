#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonia/monitor/inference_rows.hpp"
#include "http_server.hpp"

namespace harmonia {

/// Where inference is passed on to, and who is given its rows.
struct SidecarOptions {
  std::string model;            ///< the watched one: http(s)://host[:port]/v2/models/NAME[/versions/V]
  std::string ca_file;          ///< PEM file of trusted authorities; empty: the system's
  double timeout_seconds = 60;  ///< longest silence of the model server
  std::size_t features = 0;     ///< of a row
  /// Takes rows without waiting; false: too many wait. Called by many threads at once.
  std::function<bool(StreamBatch)> offer;
  /// Told what a user should know, now and then. Called by many threads at once.
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

/// The longest body of an inference request, in bytes; twice as much again is held while it is passed on.
constexpr std::size_t kLongestInference = std::size_t{64} << 20;

/// Passes the requests of the Open Inference Protocol, version 2, on to a model server, and its answers back
/// as they are. The rows of inference requests for the watched model that were answered with success are
/// read by a thread of its own and offered; nothing that becomes of them changes an answer or keeps it
/// waiting. An address without a version watches all of them.
class Sidecar {
 public:
  /// Throws Error(usage) for an address that cannot be used.
  explicit Sidecar(const SidecarOptions& options);
  ~Sidecar();
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;

  /// The protocol's paths. They use the side-car, which has to outlive the server.
  std::vector<HttpRoute> routes();
  /// Answers that still come have a few seconds left from now on. Safe to call from several threads.
  void stop();
  /// So far. Safe to call from several threads.
  InferenceCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace harmonia
