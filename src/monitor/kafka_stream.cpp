#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "batch_builder.hpp"
#include "harmonia/monitor/kafka.hpp"
#include "kafka_client.hpp"

namespace harmonia {
namespace {

using std::chrono::milliseconds;

// Messages that are taken from the client at a time: few, because members of a group wait for each other when
// it changes.
constexpr std::size_t kMessages = 1000;

class KafkaStream final : public RowStream {
 public:
  KafkaStream(KafkaTopic topic, const std::vector<std::string>& features, const KafkaStreamOptions& options)
      : topic_(std::move(topic)),
        group_(options.group),
        window_(std::max<std::uint64_t>(options.window, 1)),
        note_(options.note),
        reader_(features, {"the message", options.form, false, options.id}) {
    open();
  }

  void start(const StreamPositions& kept) override { kept_ = kept; }

  Arrival next(StreamBatch& batch, milliseconds wait) override {
    if (!take_ready(batch)) {
      read(wait);
      if (!take_ready(batch)) return Arrival::nothing;
    }
    return Arrival::rows;
  }

  void kept(const StreamBatch& batch, bool /*fresh*/) override {
    std::uint64_t& position = kept_[batch.partition];
    position = std::max(position, batch.next);
    const auto found = std::find_if(read_.begin(), read_.end(),
                                    [&](const auto& entry) { return name(entry.first) == batch.partition; });
    if (found == read_.end() || batch.next <= found->second.committed) return;
    consumer_->commit(found->first, static_cast<std::int64_t>(batch.next));
  }

 private:
  // A partition that is read.
  struct Reading {
    std::uint64_t committed = 0;            // by the group, when it began
    std::optional<std::uint64_t> position;  // of the next message; none: not known before the first
    std::unique_ptr<BatchBuilder> batch;    // of messages that next() has not given out; none: there are none
  };

  void open() {
    KafkaAssignment assignment;
    assignment.begin = [this](std::int32_t partition, std::optional<std::int64_t> committed) {
      return begin(partition, committed);
    };
    assignment.end = [this](std::int32_t partition) { return end(partition); };
    consumer_ = std::make_unique<KafkaConsumer>(topic_, group_, std::move(assignment), note_);
  }

  std::string name(std::int32_t partition) const { return fmt::format("{}/{}", topic_.topic, partition); }

  // Where to begin: where this monitor has come to, unless others of the group were further. Then it has not
  // all of the window in which they are, and begins with that.
  std::optional<std::int64_t> begin(std::int32_t partition, std::optional<std::int64_t> committed) {
    const auto own = kept_.find(name(partition));
    Reading& reading = read_[partition] = {};
    if (committed) {
      reading.committed = static_cast<std::uint64_t>(*committed);
      reading.position = reading.committed - reading.committed % window_;
    }
    if (own != kept_.end()) reading.position = std::max(own->second, reading.position.value_or(0));
    if (!reading.position) return std::nullopt;
    return static_cast<std::int64_t>(*reading.position);
  }

  // What was not given out is dropped: whoever reads the partition next gets it again.
  std::optional<std::int64_t> end(std::int32_t partition) {
    const std::uint64_t committed = read_[partition].committed;
    read_.erase(partition);
    const auto own = kept_.find(name(partition));
    if (own == kept_.end() || own->second <= committed) return std::nullopt;
    return static_cast<std::int64_t>(own->second);
  }

  // Takes what is there, and waits only for the first of it.
  void read(milliseconds wait) {
    KafkaMessage message;
    ReadRow row;
    for (std::size_t i = 0; i < kMessages && consumer_->poll(message, i == 0 ? wait : milliseconds(0)); ++i) {
      const auto found = read_.find(message.partition);
      if (found == read_.end()) continue;  // ended meanwhile
      Reading& reading = found->second;
      const auto offset = static_cast<std::uint64_t>(message.offset);
      if (offset < reading.position.value_or(0)) went_back(reading, message);
      if (!reading.batch) {
        reading.batch = std::make_unique<BatchBuilder>(reader_.features().size());
        reading.batch->begin(name(message.partition), reading.position.value_or(offset));
      }
      read_row(message, row);
      reading.batch->add(offset, row);
      reading.position = offset + 1;
    }
  }

  // Its offsets begin anew below what is kept.
  void went_back(Reading& reading, const KafkaMessage& message) const {
    if (note_)
      note_(fmt::format(
          "Kafka: {} comes to offset {} after {}: was the topic made anew? What is kept under these "
          "offsets is not counted again",
          name(message.partition), message.offset, *reading.position));
    reading.batch.reset();
    reading.position = static_cast<std::uint64_t>(message.offset);
  }

  void read_row(const KafkaMessage& message, ReadRow& row) {
    if (!message.value) {
      row.reason = "it has no value: a tombstone";
    } else if (reader_.read(*message.value, row) == LineKind::blank) {
      row.reason = "it is blank";
    }
  }

  bool take_ready(StreamBatch& batch) {
    for (auto& [partition, reading] : read_) {
      if (!reading.batch) continue;
      batch = reading.batch->end(*reading.position);
      reading.batch.reset();
      return true;
    }
    return false;
  }

  KafkaTopic topic_;
  std::string group_;
  std::uint64_t window_;
  Note note_;
  RowReader reader_;
  StreamPositions kept_;
  std::map<std::int32_t, Reading> read_;
  std::unique_ptr<KafkaConsumer> consumer_;  // last: when it ends, it ends partitions
};

}  // namespace

std::unique_ptr<RowStream> open_kafka_stream(const KafkaTopic& topic,
                                             const std::vector<std::string>& features,
                                             const KafkaStreamOptions& options) {
  return std::make_unique<KafkaStream>(topic, features, options);
}

}  // namespace harmonia
