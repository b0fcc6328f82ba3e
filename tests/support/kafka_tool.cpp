// What tests need of a Kafka cluster besides harmonia:
//   harmonia_kafka_tool BROKERS create TOPIC PARTITIONS
//   harmonia_kafka_tool BROKERS produce TOPIC      lines "PARTITION VALUE" from standard input; "PARTITION"
//   alone:
//                                                  a tombstone; waits until the brokers have all of them
//   harmonia_kafka_tool BROKERS read TOPIC COUNT   prints so many values, of any partition
#include <librdkafka/rdkafka.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void require(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

void set(rd_kafka_conf_t* settings, const char* name, const char* value) {
  std::array<char, 512> why{};
  require(rd_kafka_conf_set(settings, name, value, why.data(), why.size()) == RD_KAFKA_CONF_OK, why.data());
}

rd_kafka_t* connect(rd_kafka_type_t type, rd_kafka_conf_t* settings, const char* brokers) {
  std::array<char, 512> why{};
  set(settings, "bootstrap.servers", brokers);
  rd_kafka_t* const client = rd_kafka_new(type, settings, why.data(), why.size());
  require(client != nullptr, why.data());
  return client;
}

void create(const char* brokers, const char* topic, int partitions) {
  rd_kafka_t* const client = connect(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), brokers);
  std::array<char, 512> why{};
  rd_kafka_NewTopic_t* wanted = rd_kafka_NewTopic_new(topic, partitions, 1, why.data(), why.size());
  require(wanted != nullptr, why.data());
  rd_kafka_queue_t* const queue = rd_kafka_queue_new(client);
  rd_kafka_CreateTopics(client, &wanted, 1, nullptr, queue);
  rd_kafka_event_t* const event = rd_kafka_queue_poll(queue, 120000);
  require(event != nullptr, "no answer");
  require(rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_event_error_string(event));
  std::size_t count = 0;
  const rd_kafka_topic_result_t** const results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  for (std::size_t i = 0; i < count; ++i)
    require(rd_kafka_topic_result_error(results[i]) == RD_KAFKA_RESP_ERR_NO_ERROR,
            rd_kafka_err2str(rd_kafka_topic_result_error(results[i])));
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(wanted);
  rd_kafka_destroy(client);
}

void produce(const char* brokers, const char* topic) {
  rd_kafka_conf_t* const settings = rd_kafka_conf_new();
  set(settings, "enable.idempotence", "true");
  int failed = 0;
  rd_kafka_conf_set_opaque(settings, &failed);
  rd_kafka_conf_set_dr_msg_cb(settings, [](rd_kafka_t*, const rd_kafka_message_t* message, void* count) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) ++*static_cast<int*>(count);
  });
  rd_kafka_t* const client = connect(RD_KAFKA_PRODUCER, settings, brokers);
  rd_kafka_topic_t* const target = rd_kafka_topic_new(client, topic, nullptr);
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t blank = line.find(' ');
    const bool tombstone = blank == std::string::npos;
    const int partition = std::stoi(line);
    while (rd_kafka_produce(target, partition, RD_KAFKA_MSG_F_COPY,
                            tombstone ? nullptr : line.data() + blank + 1,
                            tombstone ? 0 : line.size() - blank - 1, nullptr, 0, nullptr) != 0) {
      require(rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL,
              rd_kafka_err2str(rd_kafka_last_error()));
      rd_kafka_poll(client, 100);
    }
    rd_kafka_poll(client, 0);
  }
  require(rd_kafka_flush(client, 300000) == RD_KAFKA_RESP_ERR_NO_ERROR && failed == 0,
          "messages were not taken");
  rd_kafka_topic_destroy(target);
  rd_kafka_destroy(client);
}

void read(const char* brokers, const char* topic, int count) {
  rd_kafka_conf_t* const settings = rd_kafka_conf_new();
  set(settings, "group.id", "harmonia_kafka_tool");
  set(settings, "enable.auto.commit", "false");
  set(settings, "auto.offset.reset", "earliest");
  rd_kafka_t* const client = connect(RD_KAFKA_CONSUMER, settings, brokers);
  rd_kafka_topic_partition_list_t* const topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_subscribe(client, topics);
  rd_kafka_topic_partition_list_destroy(topics);
  while (count > 0) {
    rd_kafka_message_t* const message = rd_kafka_consumer_poll(client, 1000);
    if (message == nullptr) continue;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      std::cout << std::string(static_cast<const char*>(message->payload), message->len) << "\n";
      --count;
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc >= 4, "usage: harmonia_kafka_tool BROKERS create|produce|read TOPIC [NUMBER]");
    const std::string what = argv[2];
    if (what == "create" && argc == 5) create(argv[1], argv[3], std::stoi(argv[4]));
    if (what == "produce") produce(argv[1], argv[3]);
    if (what == "read" && argc == 5) read(argv[1], argv[3], std::stoi(argv[4]));
  } catch (const std::exception& error) {
    std::cerr << "harmonia_kafka_tool: " << error.what() << "\n";
    return 1;
  }
}
