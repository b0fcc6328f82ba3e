#include "alert_watch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alert_words.hpp"
#include "harmonia/monitor/counterfactual.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kLastAlerts = 100;
constexpr double kQuietLevel = 0.05;

// The largest difference of two distributions of bins.
double ks_distance(const BinCounts& a, const BinCounts& b) {
  const auto of_a = static_cast<double>(total(a)), of_b = static_cast<double>(total(b));
  double below_a = 0, below_b = 0, largest = 0;
  auto at = a.begin();
  auto bt = b.begin();
  while (at != a.end() || bt != b.end()) {
    const std::uint32_t bin = at == a.end()   ? bt->first
                              : bt == b.end() ? at->first
                                              : std::min(at->first, bt->first);
    if (at != a.end() && at->first == bin) below_a += static_cast<double>((at++)->second) / of_a;
    if (bt != b.end() && bt->first == bin) below_b += static_cast<double>((bt++)->second) / of_b;
    largest = std::max(largest, std::abs(below_a - below_b));
  }
  return largest;
}

// The asymptotic test, which is cautious with ties: they make its level smaller.
bool alike(const BinCounts& a, const BinCounts& b, double level) {
  const auto of_a = static_cast<double>(total(a)), of_b = static_cast<double>(total(b));
  if (of_a == 0 || of_b == 0) return true;
  const double critical = std::sqrt(-std::log(level / 2) / 2) * std::sqrt((of_a + of_b) / (of_a * of_b));
  return ks_distance(a, b) <= critical;
}

}  // namespace

AlertWatch::AlertWatch(const Baseline& baseline, const MonitorOptions& options, const RecentRows& recent,
                       const WindowBook& windows)
    : baseline_(baseline), options_(options), recent_(recent), windows_(windows) {}

bool AlertWatch::look(Detectors& detectors, Time time) {
  const std::uint64_t number = detectors.rows();
  if (alerts_.empty() || alerts_.back().ended) {
    const std::vector<Finding> findings = detectors.alarms();
    if (findings.empty()) return false;
    begin(findings, time, number);
    return true;
  }
  if (number < next_look_) return false;
  next_look_ = number + options_.quiet_rows;
  Alert& alert = alerts_.back();
  mark(alert.id);
  const bool ends = quiet(alert);
  if (ends) alert.ended = time;
  if (!ends) {
    describe(alert, detectors.alarms());
    // When it was found there were few rows to choose from.
    if (number < alert.raised_number + 2 * options_.quiet_rows) {
      choose_rows(alert);
      alert.complete = false;
    }
  }
  alert.text = alert_words(alert, options_.detectors.false_alarms);
  if (ends) detectors.restart();
  return ends;
}

void AlertWatch::begin(const std::vector<Finding>& findings, Time time, std::uint64_t number) {
  Alert alert;
  alert.id = alerts_.empty() ? 1 : alerts_.back().id + 1;
  alert.raised = time;
  alert.raised_number = number;
  alert.p_value = findings.front().p_value;
  alert.since_number = findings.front().since;
  const auto& rows = recent_.rows();
  const auto first = std::ranges::lower_bound(rows, alert.since_number, {}, &KeptRow::number);
  alert.since = alert.since_number >= recent_.first() && first != rows.end()
                    ? first->time
                    : windows_.time_of(alert.since_number);
  describe(alert, findings);
  choose_rows(alert);
  alert.text = alert_words(alert, options_.detectors.false_alarms);
  mark(alert.id);
  alerts_.push_back(std::move(alert));
  if (alerts_.size() > kLastAlerts) alerts_.erase(alerts_.begin());
  next_look_ = number + options_.quiet_rows;
}

// Rows that are kept say it exactly; of a change that began before them, windows do.
RowCounts AlertWatch::counts_since(std::uint64_t number) const {
  return number >= recent_.first() ? recent_.counts_from(number) : windows_.counts_from(number);
}

void AlertWatch::describe(Alert& alert, const std::vector<Finding>& findings) const {
  const RowCounts now = counts_since(alert.since_number);
  const double confidence = baseline_.options.confidence;
  if (!findings.empty()) alert.parts.clear();
  for (const Finding& finding : findings)
    alert.parts.push_back({.finding = finding, .where = {}, .before = {}, .since = {}});
  for (AlertPart& part : alert.parts) {
    const std::optional<std::size_t> region = part.finding.region;
    part.where = region ? region_text(baseline_.partition, *region, baseline_.features) : "all rows";
    part.before = region ? baseline_.regions[*region] : baseline_.gamma;
    part.since = region ? counted_gamma(baseline_, now, *region, confidence)
                        : counted_gamma(baseline_, now, confidence);
  }
  alert.features = changed_features(baseline_, now);
}

void AlertWatch::choose_rows(Alert& alert) const {
  std::vector<std::size_t> regions;
  bool everywhere = false;
  for (const AlertPart& part : alert.parts) {
    everywhere |= !part.finding.region;
    if (part.finding.region) regions.push_back(*part.finding.region);
  }
  if (everywhere) regions.clear();
  alert.rows.clear();
  const AlertPart& first = alert.parts.front();
  const bool largest = first.since.mean.value_or(0) >= first.before.mean.value_or(0);
  for (KeptRow& row : recent_.worst(alert.since_number, regions, options_.alert_rows, largest))
    alert.rows.push_back({.row = std::move(row),
                          .nearest = std::nullopt,
                          .back = std::nullopt,
                          .reason = {},
                          .looked = false});
}

bool AlertWatch::quiet(const Alert& alert) const {
  const RowCounts now = recent_.counts_from(recent_.next() - std::min(recent_.next(), options_.quiet_rows));
  const double level = kQuietLevel / static_cast<double>(1 + alert.parts.size());
  const bool together = alike(sum(now.gamma), sum(baseline_.counts.gamma), level);
  return together && std::ranges::all_of(alert.parts, [&](const AlertPart& part) {
           const std::optional<std::size_t> region = part.finding.region;
           return !region || alike(now.gamma[*region], baseline_.counts.gamma[*region], level);
         });
}

const Alert* AlertWatch::incomplete() const {
  const auto found = std::ranges::find(alerts_, false, &Alert::complete);
  return found == alerts_.end() ? nullptr : &*found;
}

const Alert* AlertWatch::enter(std::uint64_t id, const std::optional<AlertRow>& row) {
  const auto alert = std::ranges::find(alerts_, id, &Alert::id);
  if (alert == alerts_.end()) return nullptr;
  if (row) {
    // Others may have been chosen meanwhile.
    const auto same =
        std::ranges::find(alert->rows, row->row.number, [](const AlertRow& r) { return r.row.number; });
    if (same != alert->rows.end()) *same = *row;
  }
  alert->complete = std::ranges::all_of(alert->rows, &AlertRow::looked);
  if (alert->complete) alert->text = alert_words(*alert, options_.detectors.false_alarms);
  mark(id);
  return alert->complete ? &*alert : nullptr;
}

void AlertWatch::restore(Alert alert) { alerts_.push_back(std::move(alert)); }

void AlertWatch::changed(const std::function<void(const Alert&)>& take) const {
  for (const Alert& alert : alerts_) {
    if (std::ranges::find(changed_, alert.id) != changed_.end()) take(alert);
  }
}

void AlertWatch::mark(std::uint64_t id) {
  if (std::ranges::find(changed_, id) == changed_.end()) changed_.push_back(id);
}

}  // namespace harmonia
