#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonia/monitor/alert_sink.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "harmonia/monitor/pushed_rows.hpp"
#include "http_server.hpp"

namespace harmonia {

class Sidecar;

/// A model whose state is shown.
struct ServedModel {
  std::string name;
  const Baseline* baseline = nullptr;
  MonitorOptions options;
  std::function<MonitorStatus()> status;  ///< called by many threads at once
};

/// How a monitor is served.
struct MonitorServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                 ///< 0: one that is free
  std::string read_key;         ///< that readers have to send, or log in with; empty: everybody reads
  std::string ingest_key;       ///< that senders of rows have to send; empty: this machine alone may send
  std::string id = "id";        ///< column or member of rows that is their id
  std::size_t most_pages = 64;  ///< that are kept up to date at the same time
  std::chrono::milliseconds ingest_wait{30000};  ///< longest that a sender waits for its rows to be kept
  Sidecar* sidecar = nullptr;  ///< whose routes are served too, and whose rows are those of the first model
  HttpLimits limits;
  /// Told of refused requests, a line each, ten a second at most. Called by many threads at once.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  /// How the sinks of alerts do. Called by many threads at once.
  std::function<std::vector<SinkStatus>()> sinks = [] { return std::vector<SinkStatus>(); };
  /// Why rows are not being measured yet; empty: they are.
  std::function<std::string()> not_ready = [] { return std::string(); };
};

/// Takes rows and waits until they are kept, as PushedRows::push().
using PushRows = std::function<PushOutcome(StreamBatch, std::chrono::milliseconds)>;

/// The live page, its events, the metrics and the ingest of rows, on threads of its own, until it is
/// destroyed. Nothing but the ingest changes anything.
class MonitorServer {
 public:
  /// push: empty if rows come from elsewhere. Throws Error(usage) if it cannot listen, or if others than this
  /// machine could send rows without a key.
  MonitorServer(const MonitorServerOptions& options, std::vector<ServedModel> models, PushRows push);
  ~MonitorServer();
  MonitorServer(const MonitorServer&) = delete;
  MonitorServer& operator=(const MonitorServer&) = delete;

  /// http://HOST:PORT
  const std::string& address() const;

 private:
  class Site;
  std::unique_ptr<Site> site_;
  std::unique_ptr<HttpServer> server_;  // last: its threads use the site
};

/// The description of what is served, in OpenAPI 3.
std::string monitor_api();

}  // namespace harmonia
