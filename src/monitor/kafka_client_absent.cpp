#include "harmonia/core/error.hpp"
#include "kafka_client.hpp"

namespace harmonia {
namespace {

[[noreturn]] void fail() {
  throw Error(ErrorCode::input, "this build has no Kafka: librdkafka was not found when it was made");
}

}  // namespace

bool has_kafka() { return false; }

class KafkaConsumer::Parts {};
class KafkaProducer::Parts {};

KafkaConsumer::KafkaConsumer(const KafkaTopic& /*topic*/, const std::string& /*group*/,
                             // NOLINTNEXTLINE(performance-unnecessary-value-param): the client keeps them
                             KafkaAssignment /*assignment*/, Note /*note*/) {
  fail();
}
KafkaConsumer::~KafkaConsumer() = default;
bool KafkaConsumer::poll(KafkaMessage& /*message*/, std::chrono::milliseconds /*wait*/) { fail(); }
void KafkaConsumer::commit(std::int32_t /*partition*/, std::int64_t /*offset*/) {}

KafkaProducer::KafkaProducer(const KafkaTopic& /*topic*/) { fail(); }
KafkaProducer::~KafkaProducer() = default;
std::string KafkaProducer::send(const std::string& /*value*/, const std::stop_token& /*stop*/) { fail(); }

}  // namespace harmonia
