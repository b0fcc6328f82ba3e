#include "harmonia/report/merge_report.hpp"

#include <fmt/format.h>

#include <map>

#include "gamma_json.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

// What windows come to.
struct Sum {
  std::uint64_t rows = 0, measured = 0, left_out = 0, without_value = 0, refused = 0;
  RowCounts counts;
  StabilityCounts stability;

  explicit Sum(const Baseline& baseline) : counts(no_counts(baseline)) {}
  void add(const Window& window) {
    rows += window.rows;
    measured += window.measured;
    left_out += window.left_out;
    without_value += window.without_value;
    refused += window.refused;
    merge(counts, window.counts);
    merge(stability, window.stability);
  }
};

struct Sums {
  Sum all;
  std::map<std::string, Sum> partitions;
};

Sums sums_of(const MergedMonitors& merged, const Baseline& baseline) {
  Sums sums{Sum(baseline), {}};
  for (const Window& window : merged.windows) {
    sums.all.add(window);
    sums.partitions.try_emplace(window.partition, baseline).first->second.add(window);
  }
  return sums;
}

Json stability_json(const StabilityCounts& counts, double confidence) {
  const MeanStability mean = mean_stability(counts, confidence);
  return {{"rows", counts.rows},        {"mean", or_null(mean.mean)}, {"low", or_null(mean.low)},
          {"high", or_null(mean.high)}, {"outside", counts.outside},  {"bins", counts.bins}};
}

Json numbers_json(const Sum& sum, const Baseline& baseline) {
  const double confidence = baseline.options.confidence;
  Json json{{"rows", sum.rows},
            {"measured", sum.measured},
            {"left_out", sum.left_out},
            {"without_value", sum.without_value},
            {"refused", sum.refused},
            {"gamma", statistics_json(counted_gamma(baseline, sum.counts, confidence))}};
  if (sum.stability.rows > 0) json["stability"] = stability_json(sum.stability, confidence);
  return json;
}

Json window_json(const Window& window, const Baseline& baseline) {
  Sum sum(baseline);
  sum.add(window);
  Json json{{"partition", window.partition},
            {"first", window.first},
            {"next", window.next},
            {"begin", window.begin},
            {"end", window.end}};
  json.update(numbers_json(sum, baseline));
  return json;
}

std::string mean_text(std::optional<double> mean, std::optional<double> low, std::optional<double> high) {
  return !mean           ? "–"
         : !low || !high ? fmt::format("{:.4g}", *mean)
                         : fmt::format("{:.4g} [{:.4g}, {:.4g}]", *mean, *low, *high);
}

}  // namespace

std::string merged_json(const MergedMonitors& merged, const Baseline& baseline) {
  const Sums sums = sums_of(merged, baseline);
  Json partitions = Json::object(), windows = Json::array();
  for (const auto& [name, sum] : sums.partitions) partitions[name] = numbers_json(sum, baseline);
  for (const Window& window : merged.windows) windows.push_back(window_json(window, baseline));
  return dump({{"schema", "harmonia/1"},
               {"command", "monitor"},
               {"model", merged.model},
               {"files", merged.files},
               {"summary", numbers_json(sums.all, baseline)},
               {"baseline", statistics_json(baseline.gamma)},
               {"partitions", std::move(partitions)},
               {"windows", std::move(windows)},
               {"version", HARMONIA_VERSION}}) +
         "\n";
}

std::string merged_table(const MergedMonitors& merged, const Baseline& baseline) {
  const Sums sums = sums_of(merged, baseline);
  const double confidence = baseline.options.confidence;
  const bool mapped = sums.all.stability.rows > 0;
  std::string text = fmt::format("{:<24} {:>10} {:>10} {:>8}  {}\n", "partition", "rows", "measured",
                                 "refused", mapped ? "mean gamma, mean stability" : "mean gamma");
  const auto line = [&](const std::string& name, const Sum& sum) {
    const GammaStatistics gamma = counted_gamma(baseline, sum.counts, confidence);
    const MeanStability stability = mean_stability(sum.stability, confidence);
    std::string means = mean_text(gamma.mean, gamma.low, gamma.high);
    if (mapped) means += ", " + mean_text(stability.mean, stability.low, stability.high);
    text += fmt::format("{:<24} {:>10} {:>10} {:>8}  {}\n", name, sum.rows, sum.measured, sum.refused, means);
  };
  for (const auto& [name, sum] : sums.partitions) line(name, sum);
  line("all", sums.all);
  return text;
}

}  // namespace harmonia
