#include "harmonia/monitor/monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "alert_watch.hpp"
#include "call_budget.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/monitor/counterfactual.hpp"
#include "map_points.hpp"
#include "measured_batch.hpp"
#include "monitor_file.hpp"
#include "monitor_json.hpp"
#include "recent_rows.hpp"
#include "row_bytes.hpp"
#include "row_measurer.hpp"
#include "window_book.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLastWindows = 200;  // of the file, that are put back
constexpr std::uint64_t kLastAlerts = 100;

// Of what windows depend on besides their size and the seed.
std::string baseline_hash(const Baseline& baseline) {
  Json nodes = Json::array();
  for (const Partition::Node& node : baseline.partition.nodes)
    nodes.push_back({node.feature, node.threshold, node.low, node.high});
  return sha256_hex(monitor_dump({{"features", baseline.features},
                                  {"seed", baseline.seed},
                                  {"nodes", std::move(nodes)},
                                  {"edges", baseline.edges},
                                  {"unit", baseline.unit},
                                  {"counts", counts_json(baseline.counts)}}));
}

std::string identity_of(const Baseline& baseline, const MonitorOptions& options) {
  const std::string map = options.map ? " map " + map_identity(*options.map) : std::string();
  return fmt::format("{} window {} seed {}{}", baseline_hash(baseline), options.window, options.seed, map);
}

bool has_map(const std::string& identity) { return identity.find(" map ") != std::string::npos; }

}  // namespace

/// All of it. Members that status() reads are changed under the mutex alone, and by one thread alone, which
/// reads them without it: while the file is written, status() answers.
class Monitor::State {
 public:
  State(const Model& model, const Baseline& baseline, const MonitorOptions& options, const std::string& file,
        Run& run)
      : model_(model),
        baseline_(baseline),
        options_(options),
        run_(run),
        measurer_(model, baseline, options_.map ? &*options_.map : nullptr, run),
        file_(file, identity_of(baseline, options)),
        budget_(options.calls_per_second),
        detectors_(baseline, options.detectors),
        recent_(baseline),
        windows_(baseline, options.window,
                 [this](const std::string& partition, std::uint64_t first) {
                   const std::string text = file_.window(partition, first);
                   return text.empty() ? std::nullopt : std::optional(read_window(text, baseline_));
                 }),
        watch_(baseline, options_, recent_, windows_) {
    restore();
  }

  std::shared_ptr<const MeasuredBatch> measure(StreamBatch batch);
  Taken keep(const MeasuredBatch& measured);
  bool save_again();
  std::optional<Alert> complete_alert();
  bool has_incomplete() const;
  MonitorStatus status() const;
  StreamPositions positions() const { return status_.positions; }
  StreamMarks marks() { return file_.marks(); }

 private:
  // What is at a position.
  struct Event {
    std::uint64_t position;
    enum { measured, left_out, refused } kind;
    std::size_t index;
  };

  void restore();
  void choose(MeasuredBatch& measured);
  static std::vector<Event> events_of(const MeasuredBatch& measured, std::uint64_t from);
  std::vector<Alert> enter(const MeasuredBatch& measured);
  void enter(const StreamBatch& batch, std::size_t place, const MeasuredRow& measured, Window& window,
             std::vector<Alert>& alerts);
  void look_at(AlertRow& row, std::size_t place);
  void save();

  const Model& model_;
  const Baseline& baseline_;
  MonitorOptions options_;
  Run& run_;
  RowMeasurer measurer_;
  MonitorFile file_;
  CallBudget budget_;
  mutable std::mutex mutex_;
  Detectors detectors_;
  RecentRows recent_;
  WindowBook windows_;
  AlertWatch watch_;
  std::atomic<double> share_ = 1;
  MonitorStatus status_;         // but for what the others know
  std::set<std::string> moved_;  // partitions whose positions are not saved
  StreamMarks marks_;            // of these
  std::set<std::string> unsaved_batches_;
  std::uint64_t saved_rows_ = 0;  // rows of smaller numbers are in the file
};

void Monitor::State::restore() {
  if (file_.value("about") != options_.about) file_.put_value("about", options_.about);
  status_.positions = file_.positions();
  for (const std::string& text : file_.windows(kLastWindows)) windows_.restore(read_window(text, baseline_));
  for (const std::string& text : file_.alerts(kLastAlerts)) watch_.restore(read_alert(text));
  for (const std::string& bytes : file_.rows(MonitorFile::kAll))
    recent_.add(read_row_bytes(bytes, baseline_.features.size()));
  saved_rows_ = recent_.next();
  const std::string detectors = file_.value("detectors");
  if (!detectors.empty()) detectors_.restore(detectors);
  const std::string numbers = file_.value("status");
  if (numbers.empty()) return;
  read_stored<int>(numbers, "the status", [&](const Json& json) {
    read_status(json, status_);
    watch_.restore_next_look(json.at("next_look").get<std::uint64_t>());
    return 0;
  });
  status_.evaluations = run_.ledger.spent();
}

// Each row is drawn for itself: by its position, whatever is in it.
void Monitor::State::choose(MeasuredBatch& measured) {
  const StreamBatch& batch = measured.batch;
  const std::size_t rows = batch.rows.values.rows();
  const auto each = static_cast<double>(gamma_cost(baseline_.options, baseline_.features.size()));
  const double share =
      budget_.share_of(each * static_cast<double>(rows), options_.share, CallBudget::Clock::now());
  share_ = share;
  const std::uint64_t seed = partition_seed(options_.seed, batch.partition);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t number = batch.rows.number(i);
    const DrawKey key{seed, Stream::monitor_sample, number & 0xffffffff, number >> 32};
    (share >= 1 || draw_uniform(key, 0) < share ? measured.places : measured.left_out).push_back(i);
  }
  budget_.spend(each * static_cast<double>(measured.places.size()));
}

std::shared_ptr<const MeasuredBatch> Monitor::State::measure(StreamBatch batch) {
  const auto measured = std::make_shared<MeasuredBatch>();
  measured->batch = std::move(batch);
  choose(*measured);
  measured->rows = measurer_.measure(measured->batch.rows, measured->places, measured->batch.partition);
  return measured;
}

// From position `from` on, ascending.
std::vector<Monitor::State::Event> Monitor::State::events_of(const MeasuredBatch& measured,
                                                             std::uint64_t from) {
  const StreamBatch& batch = measured.batch;
  std::vector<Event> events;
  for (std::size_t i = 0; i < measured.places.size(); ++i)
    events.push_back({batch.rows.number(measured.places[i]), Event::measured, i});
  for (const std::size_t place : measured.left_out)
    events.push_back({batch.rows.number(place), Event::left_out, place});
  for (std::size_t i = 0; i < batch.refused.size(); ++i)
    events.push_back({batch.refused[i].position, Event::refused, i});
  std::erase_if(events, [&](const Event& event) { return event.position < from; });
  std::ranges::sort(events, {}, &Event::position);
  return events;
}

Taken Monitor::State::keep(const MeasuredBatch& measured) {
  const StreamBatch& batch = measured.batch;
  if (!batch.id.empty() && (unsaved_batches_.contains(batch.id) || file_.has_batch(batch.id))) {
    {
      const std::lock_guard lock(mutex_);
      ++status_.repeated_batches;
    }
    return {.kept = save_again(), .fresh = false, .alerts = {}};
  }
  Taken taken{.kept = true, .fresh = true, .alerts = enter(measured)};
  if (!batch.id.empty()) unsaved_batches_.insert(batch.id);
  if (!batch.mark.empty()) marks_[batch.partition] = batch.mark;
  save();
  taken.kept = status_.unsaved.empty();
  return taken;
}

// Enters the batch's rows; returns the alerts that began or ended.
std::vector<Alert> Monitor::State::enter(const MeasuredBatch& measured) {
  const StreamBatch& batch = measured.batch;
  std::vector<Alert> alerts;
  const std::lock_guard lock(mutex_);
  std::uint64_t& next = status_.positions[batch.partition];
  for (const Event& event : events_of(measured, next)) {
    Window& window = windows_.at(batch.partition, event.position, batch.time, detectors_.rows());
    switch (event.kind) {
      case Event::measured:
        enter(batch, measured.places[event.index], measured.rows[event.index], window, alerts);
        break;
      case Event::left_out:
        ++window.rows, ++window.left_out, ++status_.rows, ++status_.left_out;
        break;
      case Event::refused:
        ++window.refused, ++status_.refused;
        status_.last_refused = batch.refused[event.index].reason;
        break;
    }
  }
  next = std::max(next, batch.next);
  moved_.insert(batch.partition);
  status_.share = share_;
  status_.evaluations = run_.ledger.spent();
  status_.last_row = batch.time;
  status_.p_values = detectors_.p_values();
  return alerts;
}

void Monitor::State::enter(const StreamBatch& batch, std::size_t place, const MeasuredRow& measured,
                           Window& window, std::vector<Alert>& alerts) {
  const std::uint64_t position = batch.rows.number(place);
  ++window.rows, ++status_.rows;
  if (!measured.reason.empty()) {
    ++window.without_value, ++status_.without_value;
    status_.last_refused =
        fmt::format("partition {}, row {}: {}", printable(batch.partition), position, measured.reason);
    return;
  }
  ++window.measured, ++status_.measured;
  const std::span<const double> x(batch.rows.values.row(place), batch.rows.values.columns());
  count_row(baseline_, x, measured.row, window.counts);
  KeptRow row{.partition = batch.partition,
              .position = position,
              .number = detectors_.rows(),
              .time = batch.time,
              .id = batch.rows.ids.empty() ? std::string() : batch.rows.ids[place],
              .values = {x.begin(), x.end()},
              .gamma = *measured.row.gamma,
              .low = measured.row.low,
              .high = measured.row.high,
              .decided_class = measured.row.decided_class,
              .region = baseline_.partition.region_of(x),
              .stability = measured.stability};
  if (row.stability) count_stability(*row.stability, window.stability);
  detectors_.add(row.region, row.gamma);
  recent_.add(std::move(row));
  if (watch_.look(detectors_, batch.time)) alerts.push_back(watch_.alerts().back());
}

// One transaction. What could not be written stays marked, and is written with the next batch.
void Monitor::State::save() {
  std::vector<std::string> forgotten;  // partitions
  try {
    SqliteTransaction transaction(file_.file());
    for (const std::string& partition : moved_)
      file_.put_position(partition, status_.positions.at(partition));
    for (const auto& [partition, mark] : marks_) file_.put_mark(partition, mark);
    while (status_.positions.size() - forgotten.size() > MonitorFile::kKeptPartitions)
      forgotten.push_back(file_.forget_position());
    windows_.changed([&](const Window& window) { file_.put_window(window); });
    watch_.changed([&](const Alert& alert) { file_.put_alert(alert.id, alert_text(alert, baseline_)); });
    for (const std::string& id : unsaved_batches_) file_.put_batch(id);
    const auto unsaved = std::ranges::lower_bound(recent_.rows(), saved_rows_, {}, &KeptRow::number);
    for (auto row = unsaved; row != recent_.rows().end(); ++row)  // ascending: pages are filled one by one
      file_.put_row(row->number, row_bytes(*row));
    file_.forget_rows(recent_.first());
    file_.put_value("detectors", detectors_.save());
    Json numbers = status_json(status_);
    numbers["next_look"] = watch_.next_look();
    file_.put_value("status", monitor_dump(numbers));
    transaction.commit();
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    status_.unsaved = error.what();
    return;
  }
  const std::lock_guard lock(mutex_);
  status_.unsaved.clear();
  for (const std::string& partition : forgotten) status_.positions.erase(partition);
  windows_.settle();
  watch_.settle();
  unsaved_batches_.clear();
  moved_.clear();
  marks_.clear();
  saved_rows_ = recent_.next();
}

bool Monitor::State::save_again() {
  if (!status_.unsaved.empty()) save();
  return status_.unsaved.empty();
}

bool Monitor::State::has_incomplete() const { return watch_.incomplete() != nullptr; }

std::optional<Alert> Monitor::State::complete_alert() {
  std::uint64_t id = 0;
  std::size_t place = 0;
  std::optional<AlertRow> row;
  const Alert* const found = watch_.incomplete();
  if (found == nullptr) return std::nullopt;
  id = found->id;
  const auto next = std::ranges::find(found->rows, false, &AlertRow::looked);
  place = static_cast<std::size_t>(next - found->rows.begin());
  if (next != found->rows.end()) row = *next;
  if (row) look_at(*row, place);
  const Alert* complete = nullptr;
  {
    const std::lock_guard lock(mutex_);
    status_.evaluations = run_.ledger.spent();
    complete = watch_.enter(id, row);
  }
  if (complete == nullptr) return std::nullopt;
  save();
  return *complete;
}

// The nearest row, and a way back for the first rows, or why there is none.
void Monitor::State::look_at(AlertRow& row, std::size_t place) {
  row.looked = true;
  row.nearest = nearest_row(baseline_, row.row.values);
  if (place >= options_.back_rows) {
    row.reason = fmt::format("it is looked for in the first {} alone", counted(options_.back_rows, "row"));
    return;
  }
  const std::uint64_t before = run_.ledger.spent();
  try {
    row.back = find_counterfactual(model_, baseline_, row.row.values, run_,
                                   options_.back_calls / options_.back_rows, &row.reason);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    row.reason = error.what();
  }
  budget_.spend(static_cast<double>(run_.ledger.spent() - before));
}

MonitorStatus Monitor::State::status() const {
  const std::lock_guard lock(mutex_);
  MonitorStatus status = status_;
  status.windows = windows_.last();
  status.alerts = watch_.alerts();
  if (options_.map) status.points = map_points(recent_.rows(), status.alerts);
  return status;
}

Monitor::Monitor(const Model& model, const Baseline& baseline, const MonitorOptions& options,
                 const std::string& file, Run& run)
    : state_(std::make_unique<State>(model, baseline, options, file, run)) {}
Monitor::~Monitor() = default;

StreamPositions Monitor::positions() const { return state_->positions(); }
StreamMarks Monitor::marks() const { return state_->marks(); }
std::shared_ptr<const MeasuredBatch> Monitor::measure(StreamBatch batch) {
  return state_->measure(std::move(batch));
}
Taken Monitor::keep(const MeasuredBatch& measured) { return state_->keep(measured); }
Taken Monitor::take(const StreamBatch& batch) { return keep(*measure(batch)); }
bool Monitor::save_again() { return state_->save_again(); }
std::optional<Alert> Monitor::complete_alert() { return state_->complete_alert(); }
bool Monitor::has_incomplete() const { return state_->has_incomplete(); }
MonitorStatus Monitor::status() const { return state_->status(); }

StoredMonitor::StoredMonitor(const std::string& file)
    : file_(std::make_unique<MonitorFile>(file, "", MonitorFile::Use::read)) {}
StoredMonitor::~StoredMonitor() = default;

std::string StoredMonitor::identity() { return file_->value("identity"); }
std::string StoredMonitor::about() { return file_->value("about"); }

void StoredMonitor::check(const Baseline& baseline) { file_->check(baseline_hash(baseline)); }

MonitorStatus StoredMonitor::status(const Baseline& baseline) {
  MonitorStatus status;
  const std::string numbers = file_->value("status");
  if (numbers.empty()) return status;
  read_stored<int>(numbers, "the status", [&](const Json& json) {
    read_status(json, status);
    return 0;
  });
  status.positions = file_->positions();
  for (const std::string& text : file_->windows(kLastWindows))
    status.windows.push_back(read_window(text, baseline));
  for (const std::string& text : file_->alerts(kLastAlerts)) status.alerts.push_back(read_alert(text));
  if (has_map(identity())) {
    std::deque<KeptRow> rows;
    for (const std::string& bytes : file_->rows(kMapPoints))
      rows.push_back(read_row_bytes(bytes, baseline.features.size()));
    status.points = map_points(rows, status.alerts);
  }
  return status;
}

std::vector<Window> StoredMonitor::windows(const Baseline& baseline) {
  std::vector<Window> windows;
  for (const std::string& text : file_->windows(MonitorFile::kAll))
    windows.push_back(read_window(text, baseline));
  return windows;
}

}  // namespace harmonia
