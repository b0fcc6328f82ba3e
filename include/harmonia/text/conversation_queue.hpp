#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "harmonia/text/conversation_gamma.hpp"

namespace harmonia {

/// How far a measurement is.
enum class MeasurementStatus { pending, measured, failed };
/// The name that answers use.
std::string_view measurement_status_name(MeasurementStatus status);

/// A measurement as it is known by its id.
struct Measurement {
  std::string id;
  MeasurementStatus status = MeasurementStatus::pending;
  ConversationGamma result;  ///< once it is not pending; the reason if it failed
};

/// How many are measured, wait and are remembered.
struct ConversationQueueOptions {
  std::size_t threads = 2;
  std::size_t most_pending = 100;  ///< that wait for a thread; further ones fail at once
  std::size_t kept = 10000;        ///< the last ids, whatever their status
};

/// Measures conversations in the background. Safe to call from several threads.
class ConversationQueue {
 public:
  /// Measures one task; called from one thread at a time. Whatever it throws is why the measurement failed.
  using Measure = std::function<ConversationGamma(const ConversationTask&)>;

  /// make: called once for every thread, from this one.
  ConversationQueue(const ConversationQueueOptions& options, const std::function<Measure()>& make);
  /// Waits for what is under way; close() first ends the wait early, if measuring hears the stop.
  ~ConversationQueue();
  ConversationQueue(const ConversationQueue&) = delete;
  ConversationQueue& operator=(const ConversationQueue&) = delete;

  /// Opens a new measurement, pending, under an id that nobody can guess.
  std::string open();
  /// Gives it what is to be measured. It fails at once if too many wait.
  void enter(const std::string& id, ConversationTask task);
  /// Ends it without.
  void fail(const std::string& id, std::string reason);
  /// Lets it be found under a further id, which the endpoint gave to the answer.
  void also_known_as(const std::string& id, const std::string& other);

  /// None if it is not known, or not any more.
  std::optional<Measurement> find(const std::string& id) const;
  /// The same, after it is not pending or so much time has passed.
  std::optional<Measurement> wait(const std::string& id, std::chrono::milliseconds longest) const;

  /// Takes no more and drops what waits. The number that is pending, those under way too.
  std::size_t close();

 private:
  struct Waiting {
    std::string id;
    ConversationTask task;
  };

  void work(const std::stop_token& stop, const Measure& measure);
  void settle(const std::string& id, ConversationGamma result);
  const Measurement* known(const std::string& id) const;

  ConversationQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any entered_;
  mutable std::condition_variable settled_;
  std::deque<Waiting> waiting_;
  std::size_t under_way_ = 0;
  bool closed_ = false;
  std::deque<std::string> order_;  // of all ids, the oldest first
  std::unordered_map<std::string, Measurement> measurements_;
  std::unordered_map<std::string, std::string> other_ids_, known_as_;  // other → id, id → other
  std::vector<std::jthread> threads_;                                  // last: they use all of the above
};

}  // namespace harmonia
