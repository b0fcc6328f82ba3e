#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "harmonia/monitor/alert_sink.hpp"

namespace harmonia {

/// What a try came to.
struct Delivery {
  std::string failure{};  ///< one line; empty: it arrived
  bool again = true;      ///< trying again may help
};

/// A queue of alerts and the thread that delivers them, one after another.
class QueuedSink final : public AlertSink {
 public:
  /// Delivers a line; called from the sink's thread. Ends early, with a failure, when it is asked to stop.
  using Deliver = std::function<Delivery(const std::string& line, const std::stop_token& stop)>;

  /// name, kind: as in SinkStatus.
  QueuedSink(std::string name, std::string kind, const AlertSinkOptions& options, Deliver deliver);
  /// Waits a while for what is in the queue, and says how much of it is left.
  ~QueuedSink() override;
  QueuedSink(const QueuedSink&) = delete;
  QueuedSink& operator=(const QueuedSink&) = delete;

  void send(const std::string& line) override;
  SinkStatus status() const override;

 private:
  void work(const std::stop_token& stop);
  bool deliver_one(const std::string& line, const std::stop_token& stop);
  void enter(const Delivery& delivery);
  void note(const std::string& text) const;

  const std::string name_;
  const AlertSinkOptions options_;
  const Deliver deliver_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_;
  bool under_way_ = false;
  SinkStatus status_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace harmonia
