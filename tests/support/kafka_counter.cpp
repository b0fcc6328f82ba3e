// Reads rows of a Kafka topic as a monitor does, and keeps them in a journal instead of measuring them:
//   harmonia_kafka_counter BROKERS TOPIC GROUP WINDOW JOURNAL
// A line of the journal is a batch: PARTITION FIRST NEXT, and for every position in it OFFSET:VALUE of the
// row's first feature, or OFFSET:! for what is no row. It is written by one call, before the stream is told
// that it is kept. Started again with the journal, it goes on. Notes go to standard error. Ends when its
// standard input does.
//   harmonia_kafka_counter BROKERS TOPIC
// Sends lines of its standard input as alerts, and prints how many arrived.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "harmonia/monitor/kafka.hpp"

namespace {

using harmonia::StreamBatch;

harmonia::StreamPositions positions_of(const std::string& journal) {
  harmonia::StreamPositions positions;
  std::ifstream file(journal);
  for (std::string line;
       std::getline(file, line) && !file.eof();) {  // a line without an end was not written whole
    std::istringstream words(line);
    std::string partition;
    std::uint64_t first = 0, next = 0;
    words >> partition >> first >> next;
    positions[partition] = next;
  }
  return positions;
}

std::string line_of(const StreamBatch& batch) {
  std::ostringstream line;
  line << batch.partition << " " << batch.first << " " << batch.next;
  for (std::size_t i = 0; i < batch.rows.values.rows(); ++i)
    line << " " << batch.rows.number(i) << ":" << static_cast<long long>(batch.rows.values.row(i)[0]);
  for (const harmonia::RefusedRow& refused : batch.refused) line << " " << refused.position << ":!";
  line << "\n";
  return line.str();
}

bool input_ended() {
  pollfd state{STDIN_FILENO, POLLIN, 0};
  return ::poll(&state, 1, 0) > 0;
}

void count(char** argv) {
  harmonia::KafkaTopic topic;
  topic.brokers = argv[1];
  topic.topic = argv[2];
  topic.settings = {{"session.timeout.ms", "3000"}, {"heartbeat.interval.ms", "500"}};
  harmonia::KafkaStreamOptions options;
  options.group = argv[3];
  options.window = std::stoull(argv[4]);
  options.note = [](const std::string& text) { std::cerr << text << std::endl; };
  const auto stream = harmonia::open_kafka_stream(topic, {"number", "other"}, options);
  stream->start(positions_of(argv[5]));
  const int journal = ::open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  StreamBatch batch;
  while (!input_ended()) {
    if (stream->next(batch, std::chrono::milliseconds(100)) != harmonia::Arrival::rows) continue;
    const std::string line = line_of(batch);
    if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("the journal cannot be written");
    stream->kept(batch, true);
  }
  ::close(journal);
}

void send(char** argv) {
  harmonia::KafkaTopic topic;
  topic.brokers = argv[1];
  topic.topic = argv[2];
  harmonia::AlertSinkOptions options;
  options.note = [](const std::string& text) { std::cerr << text << std::endl; };
  const auto sink = harmonia::open_kafka_sink(topic, options);
  for (std::string line; std::getline(std::cin, line);) sink->send(line);
  while (sink->status().waiting > 0) ::usleep(10000);
  std::cout << sink->status().sent << " sent, " << sink->status().given_up << " failed" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 3) return 2;
  try {
    argc == 6 ? count(argv) : send(argv);
  } catch (const std::exception& error) {
    std::cerr << "harmonia_kafka_counter: " << error.what() << "\n";
    return 1;
  }
}
