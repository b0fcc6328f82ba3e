#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harmonia/monitor/alert_sink.hpp"
#include "harmonia/monitor/note.hpp"
#include "harmonia/monitor/row_reader.hpp"
#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// A topic of a Kafka cluster.
struct KafkaTopic {
  std::string brokers;  ///< "host:port,…"
  std::string topic;
  std::map<std::string, std::string>
      settings{};  ///< of librdkafka, for TLS and passwords say; not what we set
};

/// How rows are read from a topic.
struct KafkaStreamOptions {
  std::string group = "harmonia";  ///< monitors of one group share the topic's partitions
  std::uint64_t window = 1000;     ///< MonitorOptions::window
  RowForm form = RowForm::any;
  std::string id = "id";  ///< member that is carried as the row's id
  Note note{};            ///< called from the thread that reads
};

/// Whether this build has Kafka at all.
bool has_kafka();

/// Rows of a topic, a message each: a row of JSON, or a line of CSV with the features in their order.
/// Anything else is refused and counted. Partitions are named "topic/0", positions are offsets.
///
/// Monitors of one group share the partitions. One that gets a partition goes on where it was itself, if
/// nobody was further; else it begins with the window in which the group had come so far: of every window
/// some monitor has all of it, from its beginning. Offsets are committed after they are kept, so that nothing
/// is lost, and what is measured twice is the same and merges to once. While no broker answers it waits, and
/// says so. Throws Error(usage) for settings that cannot be, Error(input) if this build has no Kafka.
std::unique_ptr<RowStream> open_kafka_stream(const KafkaTopic& topic,
                                             const std::vector<std::string>& features,
                                             const KafkaStreamOptions& options);

/// Sends every alert to a topic, and waits until the brokers have it for good. Throws as open_kafka_stream().
std::unique_ptr<AlertSink> open_kafka_sink(const KafkaTopic& topic, const AlertSinkOptions& options);

}  // namespace harmonia
