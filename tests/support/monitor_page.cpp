// Serves made-up models, for tests of the monitor's server and page: prints its address, then takes a command
// a line on standard input and answers "done":
//   window NAME FACTOR    a further window of the model, gamma times FACTOR
//   alert NAME            an alert of the model, since its last window
//   end NAME              its last alert ends
//   push OUTCOME          of what is sent from now on: kept, full, stopped, late; batches that come again are
//   repeated ready TEXT            why it is not; nothing: it is
// Arguments: --read-key KEY, --ingest-key KEY, --host HOST, --no-push, --empty, --map, --head-seconds S,
// --connections N,
// --pages N, --body BYTES.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"
#include "monitor_server.hpp"

namespace {

using namespace harmonia;  // NOLINT(google-build-using-namespace): a test's program

constexpr std::size_t kRows = 4000, kWindow = 500;
constexpr Time kStart = 1.79e9;
const std::vector<std::string> kFeatures{"alcohol", "flavanoids", "hue<script>", "proline"};

// A row and its gamma, which is larger where alcohol is.
void draw_row(std::uint64_t number, double factor, std::span<double> x, double& gamma) {
  const DrawKey key{7, Stream::subsample, number, 0};
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] = normal_quantile(draw_uniform(key, static_cast<std::uint32_t>(j)) * 0.999 + 5e-4);
  const double noise = draw_uniform(key, 9);
  const double here = x[0] > 0.3 ? factor : 1 + 0.1 * (factor - 1);
  gamma = 0.02 * std::exp(0.6 * x[0] - 0.3 * x[1] + noise) * here;
}

GammaRow row_of(double gamma) {
  GammaRow row;
  row.gamma = gamma;
  row.decided_class = gamma > 0.05 ? 1 : 0;
  return row;
}

Baseline reference() {
  Matrix<double> rows(kRows, kFeatures.size());
  std::vector<GammaRow> gamma;
  for (std::size_t i = 0; i < kRows; ++i) {
    double value = 0;
    draw_row(i, 1, {rows.row(i), kFeatures.size()}, value);
    gamma.push_back(row_of(value));
  }
  BaselineOptions options;
  options.partition.regions = 8;
  return make_baseline(rows.view(), gamma, kFeatures, GammaOptions{}, 1, options);
}

// A map that says 50 % where log P/(1 − P) is log gamma + 4, fitted on what draw_row() makes, about.
MonitorMap made_up_map() {
  MonitorMap made;
  GammaMap& map = made.map;
  map.inputs = {"logit_p", "log_gamma"};
  map.fit.means = {1.5, -3.4};
  map.fit.scales = {1.5, 0.75};
  map.fit.coefficients = {0.9 * (1.5 + 3.4 - 4), 0.9 * 1.5, -0.9 * 0.75};
  map.fit.covariance = Matrix<double>(3, 3);
  for (std::size_t j = 0; j < 3; ++j) map.fit.covariance.row(j)[j] = 0.02;
  map.ranges = {{0.01, 6.5}, {-6, -0.8}};
  map.floor = 1e-6;
  made.steps = 25;
  return made;
}

// P of a row, which is small where hue is.
RowStability stability_of(const GammaMap& map, std::span<const double> x, double gamma) {
  const double odds = std::abs(2 + 1.4 * x[2] - 0.2 * x[3]);
  const MapAnswer answer = map.predict({odds, gamma, {gamma, gamma}, {}});
  return {odds, answer.probability, answer.interval, answer.outside};
}

class MadeUp {
 public:
  MadeUp(const Baseline& baseline, const std::optional<MonitorMap>& map) : baseline_(baseline), map_(map) {
    status_.p_values.assign(1 + baseline.regions.size(), 1);
  }

  MonitorStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  void add_window(double factor) {
    const std::lock_guard lock(mutex_);
    Window window;
    window.partition = "0";
    window.first = status_.windows.size() * kWindow;
    window.next = window.first + kWindow;
    window.first_number = window.first;
    window.begin = kStart + 60.0 * static_cast<double>(status_.windows.size());
    window.end = window.begin + 55;
    window.rows = window.measured = kWindow;
    window.counts = no_counts(baseline_);
    std::vector<double> x(kFeatures.size());
    for (std::uint64_t i = window.first; i < window.next; ++i) {
      double gamma = 0;
      draw_row(100000 + i, factor, x, gamma);
      count_row(baseline_, x, row_of(gamma), window.counts);
      last_ = {"0", i, i, window.end, fmt::format("row-{}", i), x, gamma, gamma * 0.9, gamma * 1.1, 1, 2};
      if (map_) place(window);
    }
    if (status_.points.size() > kMapPoints)
      status_.points.erase(status_.points.begin(), status_.points.end() - kMapPoints);
    status_.rows += window.rows;
    status_.measured += window.measured;
    status_.evaluations += window.measured * 17;
    status_.last_row = window.end;
    status_.windows.push_back(window);
  }

  void add_alert() {
    const std::lock_guard lock(mutex_);
    Alert alert;
    alert.id = status_.alerts.size() + 1;
    alert.since = status_.windows.back().begin;
    alert.raised = status_.windows.back().end;
    alert.since_number = status_.windows.back().first;
    alert.raised_number = alert.since_number + 120;
    alert.p_value = 3.2e-5;
    const RowCounts& counts = status_.windows.back().counts;
    const std::size_t region = baseline_.regions.size() - 1;
    alert.parts.push_back({{std::nullopt, Change::larger, 3.2e-5, alert.since_number},
                           "all rows",
                           baseline_.gamma,
                           counted_gamma(baseline_, counts, 0.95)});
    alert.parts.push_back({{region, Change::larger, 4e-4, alert.since_number},
                           region_text(baseline_.partition, region, kFeatures),
                           baseline_.regions[region],
                           counted_gamma(baseline_, counts, region, 0.95)});
    alert.features.push_back(
        {0, kFeatures[0], 0.31, "more often above 0.3 (61 % of rows, 38 % in the baseline)"});
    alert.text =
        fmt::format("gamma became larger: {:.3g} since row {}, {:.3g} in the baseline; <b>most</b> where {}.",
                    alert.parts[0].since.mean.value_or(0), alert.since_number,
                    baseline_.gamma.mean.value_or(0), alert.parts[1].where);
    for (std::size_t i = 0; i < 50; ++i) {
      AlertRow row{last_, baseline_.rows[i], std::nullopt, "", true};
      row.row.gamma *= 1 - static_cast<double>(i) / 60;
      if (i < 20) row.back = Counterfactual{{0}, {row.row.values[0] - 0.7}, 0.021, 0.7};
      if (i == 49) row.reason = "it is looked for in the <b>first</b> 20 rows alone";
      alert.rows.push_back(row);
    }
    // The largest of the last points are those of the alert.
    for (MapPoint& point : status_.points) point.alert = point.row.gamma > 0.12;
    alert.complete = true;
    status_.p_values[0] = alert.p_value;
    status_.alerts.push_back(alert);
  }

  void end_alert() {
    const std::lock_guard lock(mutex_);
    status_.alerts.back().ended = status_.windows.back().end;
  }

  void refuse(const StreamBatch& batch) {
    const std::lock_guard lock(mutex_);
    status_.refused += batch.refused.size();
    if (!batch.refused.empty()) status_.last_refused = batch.refused.back().reason;
  }

 private:
  // Puts the last row on the map.
  void place(Window& window) {
    last_.stability = stability_of(map_->map, last_.values, last_.gamma);
    count_stability(*last_.stability, window.stability);
    status_.points.push_back({last_, false});
  }

  const Baseline& baseline_;
  const std::optional<MonitorMap>& map_;
  mutable std::mutex mutex_;
  MonitorStatus status_;
  KeptRow last_;
};

// What PushedRows would say.
class Ingest {
 public:
  explicit Ingest(MadeUp& model) : model_(model) {}

  void say(const std::string& name) {
    const std::lock_guard lock(mutex_);
    outcome_ = name == "full"      ? PushOutcome::full
               : name == "stopped" ? PushOutcome::stopped
               : name == "late"    ? PushOutcome::late
                                   : PushOutcome::kept;
  }

  PushOutcome push(const StreamBatch& batch) {
    const std::lock_guard lock(mutex_);
    if (outcome_ != PushOutcome::kept) return outcome_;
    if (!batch.id.empty() && !ids_.insert(batch.id).second) return PushOutcome::repeated;
    model_.refuse(batch);
    return PushOutcome::kept;
  }

 private:
  MadeUp& model_;
  std::mutex mutex_;
  PushOutcome outcome_ = PushOutcome::kept;
  std::set<std::string> ids_;
};

struct Arguments {
  MonitorServerOptions options;
  bool push = true, empty = false, map = false;
};

Arguments read_arguments(int count, char** words) {
  Arguments all;
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    if (name == "--no-push") {
      all.push = false;
    } else if (name == "--empty") {
      all.empty = true;
    } else if (name == "--map") {
      all.map = true;
    } else if (i + 1 < count) {
      const std::string value = words[++i];
      if (name == "--read-key") all.options.read_key = value;
      if (name == "--ingest-key") all.options.ingest_key = value;
      if (name == "--host") all.options.host = value;
      if (name == "--head-seconds") all.options.limits.head_seconds = std::stod(value);
      if (name == "--connections") all.options.limits.connections = std::stoul(value);
      if (name == "--pages") all.options.most_pages = std::stoul(value);
      if (name == "--body") all.options.limits.body = std::stoul(value);
    }
  }
  return all;
}

void serve(Arguments all) {
  const Baseline baseline = reference();
  MonitorOptions watched;
  watched.window = kWindow;
  if (all.map) watched.map = made_up_map();
  MadeUp first(baseline, watched.map), second(baseline, watched.map);
  if (!all.empty) {
    for (int i = 0; i < 12; ++i) first.add_window(1);
    for (int i = 0; i < 4; ++i) second.add_window(1.05);
  }
  Ingest ingest(first);
  std::mutex mutex;
  std::string not_ready;
  all.options.not_ready = [&] {
    const std::lock_guard lock(mutex);
    return not_ready;
  };
  all.options.log = [](const std::string& line) { std::cerr << line << std::endl; };
  all.options.sinks = [] {
    SinkStatus sink;
    sink.kind = "webhook";
    sink.sent = 2;
    sink.waiting = 1;
    return std::vector<SinkStatus>{sink};
  };
  const auto served = [&](const std::string& name, const MadeUp& model) {
    return ServedModel{name, &baseline, watched, [&model] { return model.status(); }};
  };
  PushRows push;
  if (all.push)
    push = [&](const StreamBatch& batch, std::chrono::milliseconds) { return ingest.push(batch); };
  const MonitorServer server(all.options, {served("wine", first), served("wine & <b>more</b>", second)},
                             push);
  std::cout << server.address() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what, name;
    double factor = 1;
    words >> what >> name >> factor;
    MadeUp& model = name == "second" ? second : first;
    if (what == "window") model.add_window(factor);
    if (what == "alert") model.add_alert();
    if (what == "end") model.end_alert();
    if (what == "push") ingest.say(name);
    if (what == "ready") {
      const std::lock_guard lock(mutex);
      not_ready = line.size() > 6 ? line.substr(6) : "";
    }
    std::cout << "done" << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    serve(read_arguments(count, words));
    return 0;
  } catch (const harmonia::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
