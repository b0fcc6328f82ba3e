#include <fmt/format.h>

#include <memory>

#include "harmonia/monitor/kafka.hpp"
#include "kafka_client.hpp"
#include "queued_sink.hpp"

namespace harmonia {

std::unique_ptr<AlertSink> open_kafka_sink(const KafkaTopic& topic, const AlertSinkOptions& options) {
  const auto producer = std::make_shared<KafkaProducer>(topic);
  return std::make_unique<QueuedSink>(
      fmt::format("Kafka topic {}", topic.topic), "kafka", options,
      [producer](const std::string& line, const std::stop_token& stop) -> Delivery {
        return {producer->send(line, stop), true};
      });
}

}  // namespace harmonia
