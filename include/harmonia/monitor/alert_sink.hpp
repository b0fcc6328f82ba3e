#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harmonia/monitor/note.hpp"

namespace harmonia {

/// How a sink does.
struct SinkStatus {
  std::string name;                ///< as messages call it
  std::string kind;                ///< "file", "webhook" or "kafka"
  std::uint64_t sent = 0;          ///< alerts that arrived
  std::uint64_t given_up = 0;      ///< alerts that were refused, or tried too often
  std::uint64_t dropped = 0;       ///< alerts that were left out because too many waited
  std::uint64_t failed_tries = 0;  ///< of all alerts
  std::size_t waiting = 0;         ///< one under way counts
  std::string failure;             ///< of the last try, one line; empty: it went well
};

/// Takes alerts somewhere. Its work is done by a thread of its own: however slow or dead the receiver is,
/// send() returns at once.
class AlertSink {
 public:
  virtual ~AlertSink() = default;
  /// Takes an alert, a line of JSON without its end. Never throws, never waits.
  virtual void send(const std::string& line) = 0;
  virtual SinkStatus status() const = 0;
};

/// How long a sink tries. What fails is tried again after first_pause, twice that, four times that, …
struct AlertSinkOptions {
  std::size_t most_waiting = 1000;              ///< beyond it the oldest is given up
  int tries = 10;                               ///< of one alert, before it is given up
  std::chrono::milliseconds first_pause{1000};  ///< doubled after every try
  std::chrono::milliseconds longest_pause{60000};
  std::chrono::milliseconds last_wait{3000};  ///< at the end, for what waits
  Note note{};  ///< that a sink fails, once, and that it works again; called from the sink's thread
};

/// Appends alerts to a file, a line each; "-" is standard output. Throws Error(input) if the file cannot be
/// opened.
std::unique_ptr<AlertSink> open_line_sink(const std::string& path, const AlertSinkOptions& options);

/// How a webhook is called.
struct WebhookOptions {
  std::vector<std::string> headers{};  ///< "Name: value"; values appear in no message
  std::string ca_file{};               ///< PEM file of trusted authorities; empty: the system's
  double timeout_seconds = 10;         ///< longest wait for an answer
};

/// Posts every alert, as JSON, to a URL, which messages name by its host alone: its path may be a secret. An
/// answer of 2xx means that it arrived, 429 and 5xx that it is to be tried again. Throws Error(usage) for
/// what is no http or https URL.
std::unique_ptr<AlertSink> open_webhook(const std::string& url, const WebhookOptions& webhook,
                                        const AlertSinkOptions& options);

}  // namespace harmonia
