#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "harmonia/model/open_model.hpp"
#include "harmonia/monitor/kafka.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "sidecar.hpp"

namespace harmonia {

/// Where a monitor's rows come from, as asked for.
struct SourceFlags {
  std::string source = "-", form = "any", id = "id", group = "harmonia", kafka_settings;
  bool once = false;

  /// Rows are sent to the monitor.
  bool is_pushed() const;
  /// They are those of inference requests that the monitor passes on.
  bool is_sidecar() const;
  /// They are those of a topic.
  bool is_kafka() const;
};

/// The options of group "Source".
void add_source_flags(CLI::App& app, SourceFlags& flags);

/// Is told what a user should know. Called by many threads at once.
using SayLine = std::function<void(const std::string&)>;

/// kafka:HOST:PORT,…/TOPIC, with the settings of a file if its name is not empty. Throws Error(usage) for
/// another address, Error(input) for a file that cannot be read.
KafkaTopic read_topic(const std::string& address, const std::string& settings_file);

/// The rows that the monitor is to measure.
std::unique_ptr<RowStream> open_source(const SourceFlags& flags, const Baseline& baseline,
                                       const Monitor& monitor, std::size_t window, const SayLine& say);

/// The side-car that offers the rows of inference to the stream, which open_source() made; null if none is
/// asked for. `model`: the watched one, which inference is passed on to unless the source names another.
std::unique_ptr<Sidecar> open_sidecar(const SourceFlags& flags, const std::string& model,
                                      const ModelOptions& reached, const Baseline& baseline,
                                      RowStream& stream, const SayLine& say);

}  // namespace harmonia
