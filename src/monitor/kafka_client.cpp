#include "kafka_client.hpp"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstring>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kCommittedWait = 10000;   // milliseconds for the group's offsets …
constexpr int kCommittedTries = 5;      // … and how often they are asked for
constexpr int kTick = 100;              // milliseconds between looks whether to stop
constexpr milliseconds kSilence{5000};  // after a lost connection, before it is said

template <auto Free>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Settings = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
using Client = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Message = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using Partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;
using Failure = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;

void set(rd_kafka_conf_t* settings, const std::string& name, const std::string& value) {
  std::array<char, 512> why{};
  if (rd_kafka_conf_set(settings, name.c_str(), value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK)
    // The value may be a secret and is not repeated, which librdkafka's own words do.
    throw Error(ErrorCode::usage, fmt::format("librdkafka does not take the setting {}", in_quotes(name)));
}

// The user's settings come first: what is ours holds.
Settings make_settings(const KafkaTopic& topic, const std::map<std::string, std::string>& ours, void* self) {
  Settings settings(rd_kafka_conf_new());
  for (const auto& [name, value] : topic.settings) set(settings.get(), name, value);
  set(settings.get(), "bootstrap.servers", topic.brokers);
  for (const auto& [name, value] : ours) set(settings.get(), name, value);
  rd_kafka_conf_set_opaque(settings.get(), self);
  // What matters comes to us as an error; the library's own lines would go to standard error.
  rd_kafka_conf_set_log_cb(settings.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  return settings;
}

Client make_client(rd_kafka_type_t type, Settings settings) {
  std::array<char, 512> why{};
  Client client(rd_kafka_new(type, settings.get(), why.data(), why.size()));
  if (!client) throw Error(ErrorCode::usage, fmt::format("Kafka: {}", sentence(why.data())));
  static_cast<void>(settings.release());  // the client has taken them over
  return client;
}

Partitions one_partition(const std::string& topic, std::int32_t partition, std::int64_t offset) {
  Partitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

bool cooperative(rd_kafka_t* client) {
  const char* const protocol = rd_kafka_rebalance_protocol(client);
  return protocol != nullptr && std::strcmp(protocol, "COOPERATIVE") == 0;
}

}  // namespace

bool has_kafka() { return true; }

class KafkaConsumer::Parts {
 public:
  Parts(const KafkaTopic& topic, const std::string& group, KafkaAssignment assignment, Note note)
      : topic_(topic.topic),
        brokers_(topic.brokers),
        assignment_(std::move(assignment)),
        note_(std::move(note)) {
    Settings settings = make_settings(topic,
                                      {{"group.id", group},
                                       {"enable.auto.commit", "false"},
                                       {"enable.auto.offset.store", "false"},
                                       {"auto.offset.reset", "earliest"},
                                       {"enable.partition.eof", "false"},
                                       // Not cooperative-sticky, whose state librdkafka before 2.3 aborts
                                       // over if the consumer ends before it was assigned anything (4312).
                                       {"partition.assignment.strategy", "roundrobin"},
                                       {"max.poll.interval.ms", "600000"}},
                                      this);
    rd_kafka_conf_set_rebalance_cb(
        settings.get(), [](rd_kafka_t*, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* list,
                           void* self) { static_cast<Parts*>(self)->rebalance(what, list); });
    rd_kafka_conf_set_error_cb(settings.get(), [](rd_kafka_t*, int code, const char* why, void* self) {
      static_cast<Parts*>(self)->trouble(static_cast<rd_kafka_resp_err_t>(code), why);
    });
    client_ = make_client(RD_KAFKA_CONSUMER, std::move(settings));
    rd_kafka_poll_set_consumer(client_.get());
    subscribe();
  }

  ~Parts() {
    message_.reset();
    rd_kafka_consumer_close(client_.get());  // ends partitions, and so commits
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  bool poll(KafkaMessage& message, milliseconds wait) {
    message_.reset(rd_kafka_consumer_poll(client_.get(), static_cast<int>(wait.count())));
    if (rejoin_) {
      rejoin_ = false;
      rd_kafka_unsubscribe(client_.get());
      subscribe();
    }
    check_fatal();
    if (!message_) {
      // That all brokers are down is not always told by the library, if a connection is lost at an unlucky
      // moment.
      if (lost_at_ && trouble_.empty() && Clock::now() - *lost_at_ > kSilence)
        say(fmt::format("Kafka at {}: a broker does not answer; waiting", brokers_));
      return false;
    }
    if (message_->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      trouble(message_->err, rd_kafka_message_errstr(message_.get()));
      return false;
    }
    heard();
    message = {message_->partition, message_->offset, std::nullopt};
    if (message_->payload != nullptr)
      message.value.emplace(static_cast<const char*>(message_->payload), message_->len);
    return true;
  }

  void commit(std::int32_t partition, std::int64_t offset) {
    // One that fails is made up for by the next, or by reading again what is measured alike.
    rd_kafka_commit(client_.get(), one_partition(topic_, partition, offset).get(), 1);
  }

 private:
  void subscribe() {
    const Partitions topics = one_partition(topic_, RD_KAFKA_PARTITION_UA, 0);
    if (const auto error = rd_kafka_subscribe(client_.get(), topics.get());
        error != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw Error(ErrorCode::usage,
                  fmt::format("Kafka topic {}: {}", in_quotes(topic_), rd_kafka_err2str(error)));
  }

  void rebalance(rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* list) {
    if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      begin(list);
    } else {
      end(list);
    }
  }

  void begin(rd_kafka_topic_partition_list_t* list) {
    const bool known = set_offsets(list);
    if (!known) {
      // Where to begin is not known: nothing is read, and the group is joined anew.
      rejoin_ = true;
      if (!cooperative(client_.get())) rd_kafka_assign(client_.get(), nullptr);
      return;
    }
    if (cooperative(client_.get())) {
      const Failure failure(rd_kafka_incremental_assign(client_.get(), list));
      rejoin_ = rejoin_ || failure != nullptr;
    } else {
      rd_kafka_assign(client_.get(), list);
    }
  }

  bool set_offsets(rd_kafka_topic_partition_list_t* list) {
    if (list->cnt == 0) return true;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < kCommittedTries; ++i) {
      error = rd_kafka_committed(client_.get(), list, kCommittedWait);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    }
    for (int i = 0; i < list->cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) error = list->elems[i].err;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      say(fmt::format("Kafka at {}: the group's offsets cannot be read ({}); joining again", brokers_,
                      rd_kafka_err2str(error)));
      return false;
    }
    heard();
    for (int i = 0; i < list->cnt; ++i) {
      rd_kafka_topic_partition_t& one = list->elems[i];
      one.offset =
          assignment_.begin(one.partition, one.offset >= 0 ? std::optional(one.offset) : std::nullopt)
              .value_or(RD_KAFKA_OFFSET_BEGINNING);
    }
    return true;
  }

  void end(rd_kafka_topic_partition_list_t* list) {
    const bool lost = rd_kafka_assignment_lost(client_.get()) != 0;
    const Partitions done(rd_kafka_topic_partition_list_new(list->cnt));
    for (int i = 0; i < list->cnt; ++i) {
      const std::int32_t partition = list->elems[i].partition;
      if (const auto offset = assignment_.end(partition))
        rd_kafka_topic_partition_list_add(done.get(), topic_.c_str(), partition)->offset = *offset;
    }
    if (!lost && done->cnt > 0) rd_kafka_commit(client_.get(), done.get(), 0);
    if (cooperative(client_.get())) {
      const Failure failure(rd_kafka_incremental_unassign(client_.get(), list));
    } else {
      rd_kafka_assign(client_.get(), nullptr);
    }
  }

  void trouble(rd_kafka_resp_err_t code, const char* why) {
    switch (code) {
      case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        return say(fmt::format("Kafka: no broker of {} answers; waiting", brokers_));
      case RD_KAFKA_RESP_ERR__TRANSPORT:  // to one of the brokers
        if (!lost_at_) lost_at_ = Clock::now();
        return;
      case RD_KAFKA_RESP_ERR__FATAL:
        return;  // check_fatal() throws
      case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return say(fmt::format("Kafka at {} has no topic {}; waiting", brokers_, in_quotes(topic_)));
      default:
        say(fmt::format("Kafka at {}: {}", brokers_, sentence(why)));
    }
  }

  void check_fatal() const {
    std::array<char, 512> why{};
    if (rd_kafka_fatal_error(client_.get(), why.data(), why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR)
      throw Error(ErrorCode::input, fmt::format("Kafka at {}: {}", brokers_, sentence(why.data())));
  }

  void heard() {
    lost_at_.reset();
    say("");
  }

  // Says what is new; empty: all is well.
  void say(const std::string& trouble) {
    if (trouble == trouble_) return;
    trouble_ = trouble;
    if (note_) note_(trouble.empty() ? fmt::format("Kafka at {} answers again", brokers_) : trouble);
  }

  std::string topic_, brokers_;
  KafkaAssignment assignment_;
  Note note_;
  bool rejoin_ = false;
  std::string trouble_;                       // what was said last
  std::optional<Clock::time_point> lost_at_;  // when a connection was, since a message came
  Client client_;
  Message message_;
};

KafkaConsumer::KafkaConsumer(const KafkaTopic& topic, const std::string& group, KafkaAssignment assignment,
                             Note note)
    : parts_(std::make_unique<Parts>(topic, group, std::move(assignment), std::move(note))) {}
KafkaConsumer::~KafkaConsumer() = default;
bool KafkaConsumer::poll(KafkaMessage& message, milliseconds wait) { return parts_->poll(message, wait); }
void KafkaConsumer::commit(std::int32_t partition, std::int64_t offset) { parts_->commit(partition, offset); }

class KafkaProducer::Parts {
 public:
  explicit Parts(const KafkaTopic& topic) : topic_(topic.topic) {
    Settings settings = make_settings(
        topic, {{"enable.idempotence", "true"}, {"acks", "all"}, {"message.timeout.ms", "30000"}}, this);
    rd_kafka_conf_set_dr_msg_cb(settings.get(),
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
                                  static_cast<Parts*>(self)->report_ = message->err;
                                });
    client_ = make_client(RD_KAFKA_PRODUCER, std::move(settings));
  }

  std::string send(const std::string& value, const std::stop_token& stop) {
    report_.reset();
    std::array<rd_kafka_vu_t, 3> message{};
    message[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    message[0].u.cstr = topic_.c_str();
    message[1].vtype = RD_KAFKA_VTYPE_VALUE;
    message[1].u.mem = {const_cast<char*>(value.data()), value.size()};  // not written to
    message[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    message[2].u.i = RD_KAFKA_MSG_F_COPY;
    const Failure failure(rd_kafka_produceva(client_.get(), message.data(), message.size()));
    if (failure) return sentence(rd_kafka_error_string(failure.get()));
    while (!report_) {
      rd_kafka_poll(client_.get(), kTick);
      if (stop.stop_requested() && !report_) return "it was stopped before the brokers had the message";
    }
    return *report_ == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : sentence(rd_kafka_err2str(*report_));
  }

 private:
  std::string topic_;
  std::optional<rd_kafka_resp_err_t> report_;  // on the last message
  Client client_;
};

KafkaProducer::KafkaProducer(const KafkaTopic& topic) : parts_(std::make_unique<Parts>(topic)) {}
KafkaProducer::~KafkaProducer() = default;
std::string KafkaProducer::send(const std::string& value, const std::stop_token& stop) {
  return parts_->send(value, stop);
}

}  // namespace harmonia
