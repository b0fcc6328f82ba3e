#include "serve_monitors.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/map_report.hpp"
#include "harmonia/report/monitor_map.hpp"
#include "monitor_server.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

// A file that is read by one thread at a time.
struct ReadMonitor {
  explicit ReadMonitor(const std::string& path) : file(path), subject(stored_subject(file, path)) {
    file.check(subject.baseline.baseline);
  }

  MonitorStatus status() {
    const std::lock_guard lock(mutex);
    return file.status(subject.baseline.baseline);
  }

  std::mutex mutex;
  StoredMonitor file;
  MonitorSubject subject;
};

}  // namespace

MonitorSubject stored_subject(StoredMonitor& monitor, const std::string& file) {
  const Json about = Json::parse(monitor.about(), nullptr, false);
  const auto has = [&](const char* key, bool (Json::*is)() const noexcept) {
    return about.is_object() && about.contains(key) && (about[key].*is)();
  };
  if (!has("model", &Json::is_string) || !has("baseline", &Json::is_string) ||
      !has("false_alarms", &Json::is_number))
    throw Error(ErrorCode::input, fmt::format("{}: a monitor has not taken any rows into it yet", file));
  MonitorSubject subject{.model = about["model"].get<std::string>(),
                         .baseline = read_baseline({file, about["baseline"].get<std::string>()}),
                         .false_alarms = about["false_alarms"].get<double>()};
  if (has("map", &Json::is_string))
    subject.map =
        monitor_map(read_map({file, about["map"].get<std::string>()}), file, subject.baseline, file);
  return subject;
}

std::string monitor_about(const std::string& model, const std::string& baseline, const std::string& map,
                          double false_alarms) {
  Json about{{"model", model}, {"baseline", baseline}, {"false_alarms", false_alarms}};
  if (!map.empty()) about["map"] = map;
  return about.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void serve_monitors(const std::vector<std::string>& files, const std::string& listen,
                    const std::string& read_key, const std::stop_token& stop) {
  const ListenAddress address = read_listen_address(listen);
  std::vector<std::unique_ptr<ReadMonitor>> monitors;
  std::vector<ServedModel> models;
  std::map<std::string, std::size_t> times;  // that a model's name comes
  for (const std::string& path : files) {
    monitors.push_back(std::make_unique<ReadMonitor>(path));
    ++times[monitors.back()->subject.model];
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    ReadMonitor& monitor = *monitors[i];
    const std::string& model = monitor.subject.model;
    MonitorOptions options;
    options.detectors.false_alarms = monitor.subject.false_alarms;
    options.map = monitor.subject.map;
    models.push_back({.name = times[model] == 1 ? model : fmt::format("{} ({})", model, files[i]),
                      .baseline = &monitor.subject.baseline.baseline,
                      .options = options,
                      .status = [&monitor] { return monitor.status(); }});
  }
  MonitorServerOptions how;
  how.host = address.host;
  how.port = address.port;
  how.read_key = read_key;
  how.log = [](const std::string& line) {
    std::fputs(fmt::format("harmonia: {}\n", printable(line, std::string::npos)).c_str(), stderr);
  };
  const MonitorServer server(how, std::move(models), {});
  fmt::print("the page of {} is at {}; Ctrl-C ends it\n", counted(files.size(), "monitor"), server.address());
  std::fflush(stdout);
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

}  // namespace harmonia
