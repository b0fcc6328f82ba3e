#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/monitor/kafka.hpp"

namespace harmonia {

/// A message of a topic.
struct KafkaMessage {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::optional<std::string_view> value;  ///< valid until the next poll(); none: a tombstone
};

/// What becomes of partitions; all called by poll() and the destructor.
struct KafkaAssignment {
  /// One is to be read: from which offset. committed: where the group has come to; none: nowhere. Returns
  /// none for the oldest that there is.
  std::function<std::optional<std::int64_t>(std::int32_t partition, std::optional<std::int64_t> committed)>
      begin;
  /// One is not to be read any more. Returns the offset to commit; none: nothing.
  std::function<std::optional<std::int64_t>(std::int32_t partition)> end;
};

/// A member of a consumer group. Used by one thread.
class KafkaConsumer {
 public:
  /// Throws Error(usage) for settings that cannot be, Error(input) if this build has no Kafka.
  KafkaConsumer(const KafkaTopic& topic, const std::string& group, KafkaAssignment assignment, Note note);
  ~KafkaConsumer();
  KafkaConsumer(const KafkaConsumer&) = delete;
  KafkaConsumer& operator=(const KafkaConsumer&) = delete;

  /// Waits at most so long for a message; false: none came. Throws Error(input) if the client cannot go on.
  bool poll(KafkaMessage& message, std::chrono::milliseconds wait);
  /// Tells the group that messages before the offset are done with; does not wait.
  void commit(std::int32_t partition, std::int64_t offset);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Sends messages. Used by one thread.
class KafkaProducer {
 public:
  /// Throws as KafkaConsumer.
  explicit KafkaProducer(const KafkaTopic& topic);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  /// Sends a message and waits until the brokers have it. Why they do not; empty: they do. Once it was
  /// stopped, no further one is sent.
  std::string send(const std::string& value, const std::stop_token& stop);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace harmonia
