#include "monitor_source.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/pushed_rows.hpp"
#include "harmonia/monitor/text_stream.hpp"

namespace harmonia {
namespace {

constexpr const char* kPushed = "http";
constexpr std::string_view kKafka = "kafka:";
constexpr std::string_view kSidecar = "sidecar";

// Lines of NAME=VALUE; a line that begins with # is none. In a file, because there are passwords in it.
std::map<std::string, std::string> read_settings(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::input, fmt::format("{}: cannot be read", path));
  std::map<std::string, std::string> settings;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string_view text = trim(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw Error(ErrorCode::input,
                  fmt::format("{}, line {}: expected NAME=VALUE of librdkafka", path, number));
    settings[std::string(trim(text.substr(0, equals)))] = trim(text.substr(equals + 1));
  }
  return settings;
}

// A request that is passed on takes several files, and shells allow few.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

bool SourceFlags::is_pushed() const { return source == kPushed; }

bool SourceFlags::is_sidecar() const {
  return source == kSidecar || source.starts_with(std::string(kSidecar) + ":");
}

bool SourceFlags::is_kafka() const { return source.starts_with(kKafka); }

void add_source_flags(CLI::App& app, SourceFlags& flags) {
  app.add_option(
         "--source", flags.source,
         "where rows come from: - (standard input), FILE (which may grow), kafka:HOST:PORT/TOPIC, http "
         "(POST /v1/rows at --listen), or sidecar[:URL] (inference requests that --listen passes on to the "
         "model at URL, without one to MODEL) [-]")
      ->type_name("SOURCE")
      ->group("Source");
  app.add_option("--form", flags.form, "of rows in text: csv, json (lines) or any: as each line looks [any]")
      ->check(CLI::IsMember({"any", "csv", "json"}))
      ->group("Source");
  app.add_option("--id", flags.id, "column or member that is kept as a row's id [id]")->group("Source");
  app.add_flag("--once", flags.once, "end where the file ends, instead of waiting for more")->group("Source");
  app.add_option("--group", flags.group,
                 "of Kafka: monitors of one group share a topic's partitions [harmonia]")
      ->group("Source");
  app.add_option("--kafka-settings", flags.kafka_settings,
                 "file of NAME=VALUE lines for librdkafka: TLS, passwords")
      ->type_name("FILE")
      ->group("Source");
}

KafkaTopic read_topic(const std::string& address, const std::string& settings_file) {
  const std::size_t slash = address.rfind('/');
  if (!address.starts_with(kKafka) || slash == std::string::npos || slash + 1 == address.size())
    throw Error(ErrorCode::usage, fmt::format("{}; expected kafka:HOST:PORT/TOPIC, hosts separated by commas",
                                              in_quotes(address)));
  KafkaTopic topic{.brokers = address.substr(kKafka.size(), slash - kKafka.size()),
                   .topic = address.substr(slash + 1)};
  if (!settings_file.empty()) topic.settings = read_settings(settings_file);
  return topic;
}

std::unique_ptr<RowStream> open_source(const SourceFlags& flags, const Baseline& baseline,
                                       const Monitor& monitor, std::size_t window, const SayLine& say) {
  if (flags.is_pushed() || flags.is_sidecar()) return std::make_unique<PushedRows>();
  const RowForm rows = flags.form == "csv"    ? RowForm::csv
                       : flags.form == "json" ? RowForm::json
                                              : RowForm::any;
  if (flags.is_kafka()) {
    return open_kafka_stream(
        read_topic(flags.source, flags.kafka_settings), baseline.features,
        {.group = flags.group, .window = window, .form = rows, .id = flags.id, .note = say});
  }
  TextStreamOptions how;
  how.form = rows;
  how.id = flags.id;
  how.follow = !flags.once;
  how.note = say;
  if (flags.source == "-") return open_input_stream(STDIN_FILENO, "standard input", baseline.features, how);
  how.marks = monitor.marks();
  return open_growing_file(flags.source, baseline.features, how);
}

// sidecar, or sidecar:http://HOST:PORT/v2/models/NAME where inference is passed on to another one than MODEL.
std::unique_ptr<Sidecar> open_sidecar(const SourceFlags& flags, const std::string& model,
                                      const ModelOptions& reached, const Baseline& baseline,
                                      RowStream& stream, const SayLine& say) {
  if (!flags.is_sidecar()) return nullptr;
  allow_many_files();
  SidecarOptions how;
  how.model = flags.source == kSidecar ? model : flags.source.substr(kSidecar.size() + 1);
  if (!is_server(how.model, {}))
    throw Error(ErrorCode::usage, fmt::format("side-car of {}; expected a model server, as in --source "
                                              "sidecar:http://HOST:PORT/v2/models/NAME",
                                              in_quotes(how.model)));
  how.ca_file = reached.ca_file;
  how.timeout_seconds = reached.timeout_seconds;
  how.features = baseline.features.size();
  how.offer = [&rows = dynamic_cast<PushedRows&>(stream)](StreamBatch batch) {
    return rows.offer(std::move(batch));
  };
  how.note = say;
  return std::make_unique<Sidecar>(how);
}

}  // namespace harmonia
