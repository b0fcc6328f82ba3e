#include "harmonia/monitor/detectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "monitor_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

// A sure thing is reported as this: 0 would claim more than doubles can hold.
constexpr double kLeastPValue = 1e-300;

void check(const DetectorOptions& options) {
  const auto inside = [](double value) { return value > 0 && value < 1; };
  if (!inside(options.false_alarms)) {
    throw Error(ErrorCode::usage,
                fmt::format("the rate of false alarms is {}; expected a number between 0 and 1",
                            options.false_alarms));
  }
  if (!inside(options.overall_share)) {
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "all rows together have a share of {} of the false alarms; expected a number between 0 and 1",
            options.overall_share));
  }
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::input, "the saved state of the detectors " + what);
}

BinCounts read_added(const Json& list) {
  BinCounts counts = read_bins(list);
  if (!counts.empty() && counts.rbegin()->first >= kValueBins)
    fail(fmt::format("has bin {}; expected less than {}", counts.rbegin()->first, kValueBins));
  return counts;
}

Change read_change(const Json& json) {
  const auto number = json.get<std::size_t>();
  if (number >= kChanges) fail(fmt::format("has change {}; expected less than {}", number, kChanges));
  return static_cast<Change>(number);
}

}  // namespace

Detectors::Detectors(const Baseline& baseline, const DetectorOptions& options)
    : options_(options), regions_(baseline.counts.gamma.size()) {
  check(options);
  const std::vector<BinCounts>& gamma = baseline.counts.gamma;
  const bool several = regions_ > 1;
  detectors_.push_back(
      {std::nullopt, several ? options.overall_share : 1, ConformalRanks(sum(gamma)), Evidence()});
  if (!several) return;
  const double share = (1 - options.overall_share) / static_cast<double>(regions_);
  for (std::size_t region = 0; region < regions_; ++region)
    detectors_.push_back({region, share, ConformalRanks(gamma[region]), Evidence()});
}

void Detectors::add(std::size_t region, double gamma) {
  assert(region < regions_);
  add(detectors_[0], gamma);
  if (regions_ > 1) add(detectors_[1 + region], gamma);
  ++rows_;
}

void Detectors::add(Detector& detector, double gamma) {
  const DrawKey key{.seed = options_.seed,
                    .stream = Stream::monitor_ties,
                    .row = rows_ & 0xffffffff,
                    .sample = rows_ >> 32};
  const double uniform = draw_uniform(key, detector.region ? 1 : 0);
  detector.evidence.add(detector.ranks.add(value_bin(gamma), uniform), rows_);
  const double now = detector.evidence.log_value();
  if (now <= detector.most) return;
  detector.most = now;
  detector.change = detector.evidence.change();
  detector.since = detector.evidence.since();
}

double Detectors::log_p_value(const Detector& detector) const {
  return -detector.most - std::log(detector.share);
}

std::vector<Finding> Detectors::alarms() const {
  std::vector<const Detector*> raised;
  for (const Detector& detector : detectors_)
    if (log_p_value(detector) <= std::log(options_.false_alarms)) raised.push_back(&detector);
  std::ranges::stable_sort(raised, {}, [&](const Detector* detector) { return log_p_value(*detector); });
  std::vector<Finding> findings;
  findings.reserve(raised.size());
  for (const Detector* detector : raised) {
    findings.push_back({.region = detector->region,
                        .change = detector->change,
                        .p_value = std::max(kLeastPValue, std::exp(log_p_value(*detector))),
                        .since = detector->since});
  }
  return findings;
}

std::vector<double> Detectors::p_values() const {
  std::vector<double> values;
  for (const Detector& detector : detectors_)
    values.push_back(std::clamp(std::exp(log_p_value(detector)), kLeastPValue, 1.0));
  values.resize(1 + regions_, values[0]);
  return values;
}

void Detectors::restart() {
  for (Detector& detector : detectors_) {
    detector.ranks.restore({});
    detector.evidence = Evidence();
    detector.most = 0;
  }
}

std::string Detectors::save() const {
  Json list = Json::array();
  for (const Detector& detector : detectors_) {
    list.push_back({{"added", bins_json(detector.ranks.added())},
                    {"evidence", detector.evidence.save()},
                    {"most", detector.most},
                    {"change", detector.change},
                    {"since", detector.since}});
  }
  return Json{{"rows", rows_}, {"detectors", list}}.dump();
}

void Detectors::restore(const std::string& saved) {
  try {
    const Json json = Json::parse(saved);
    const Json& list = json.at("detectors");
    if (list.size() != detectors_.size())
      fail(fmt::format("has {} detectors; expected {}", list.size(), detectors_.size()));
    std::vector<Detector> detectors = detectors_;
    for (std::size_t i = 0; i < detectors.size(); ++i) {
      detectors[i].ranks.restore(read_added(list[i].at("added")));
      detectors[i].evidence.restore(list[i].at("evidence").get<std::vector<double>>());
      detectors[i].most = list[i].at("most").get<double>();
      detectors[i].change = read_change(list[i].at("change"));
      detectors[i].since = list[i].at("since").get<std::uint64_t>();
    }
    rows_ = json.at("rows").get<std::uint64_t>();
    detectors_ = std::move(detectors);
  } catch (const Json::exception& error) {
    fail(fmt::format("cannot be read: {}", error.what()));
  }
}

}  // namespace harmonia
