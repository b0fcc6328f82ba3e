#include "harmonia/monitor/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harmonia/core/error.hpp"
#include "monitor_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

// The middle of a bin stands for what is in it: the spread that comes of it is right to some 2 %.
double bin_middle(std::uint32_t bin) {
  return bin == 0 ? 0 : bin + 1 < kValueBins ? (bin_low(bin) + bin_low(bin + 1)) / 2 : bin_low(bin);
}

GammaStatistics statistics_of(const BinCounts& counts, double mean, double confidence) {
  GammaStatistics result;
  Moments moments;
  double squares = 0;
  for (const auto& [bin, times] : counts) {
    const double value = bin_middle(bin);
    squares += value * value * static_cast<double>(times);
    moments.add(value, times);
  }
  result.rows = moments.count();
  if (result.rows == 0) return result;
  result.mean = mean;
  result.rms = std::sqrt(squares / static_cast<double>(result.rows));
  if (result.rows < 2) return result;
  const auto n = static_cast<double>(result.rows);
  const Interval interval = mean_interval(moments, student_t_quantile((1 + confidence) / 2, n - 1));
  const double shift = mean - moments.mean();  // of the bins
  result.low = std::max(0.0, interval.low + shift);
  result.high = interval.high + shift;
  result.standard_error = moments.standard_error();
  return result;
}

}  // namespace

GammaStatistics counted_gamma(const Baseline& baseline, const RowCounts& counts, double confidence) {
  return statistics_of(sum(counts.gamma), mean_gamma(baseline, counts), confidence);
}

GammaStatistics counted_gamma(const Baseline& baseline, const RowCounts& counts, std::size_t region,
                              double confidence) {
  return statistics_of(counts.gamma[region], mean_gamma(baseline, counts, region), confidence);
}

std::vector<Window> merge_windows(std::vector<Window> windows) {
  const auto place = [](const Window& w) { return std::tie(w.partition, w.first); };
  std::ranges::sort(windows, [&](const Window& a, const Window& b) {
    return place(a) != place(b) ? place(a) < place(b) : a.next > b.next;
  });
  const auto end = std::unique(windows.begin(), windows.end(),
                               [&](const Window& a, const Window& b) { return place(a) == place(b); });
  windows.erase(end, windows.end());
  return windows;
}

std::string window_text(const Window& window) {
  Json json{{"partition", window.partition},
            {"first", window.first},
            {"next", window.next},
            {"begin", window.begin},
            {"end", window.end},
            {"first_number", window.first_number},
            {"rows", window.rows},
            {"measured", window.measured},
            {"left_out", window.left_out},
            {"without_value", window.without_value},
            {"refused", window.refused},
            {"counts", counts_json(window.counts)}};
  if (window.stability.rows > 0) json["stability"] = stability_counts_json(window.stability);
  return monitor_dump(json);
}

Window read_window(const std::string& text, const Baseline& baseline) {
  return read_stored<Window>(text, "a window", [&](const Json& json) {
    Window window;
    json.at("partition").get_to(window.partition);
    json.at("first").get_to(window.first);
    json.at("next").get_to(window.next);
    json.at("begin").get_to(window.begin);
    json.at("end").get_to(window.end);
    json.at("first_number").get_to(window.first_number);
    json.at("rows").get_to(window.rows);
    json.at("measured").get_to(window.measured);
    json.at("left_out").get_to(window.left_out);
    json.at("without_value").get_to(window.without_value);
    json.at("refused").get_to(window.refused);
    window.counts = read_counts(json.at("counts"), baseline);
    // Monitors without a map, and those of older versions, write none.
    if (json.contains("stability")) window.stability = read_stability_counts(json.at("stability"));
    return window;
  });
}

}  // namespace harmonia
