#include "harmonia/report/monitor_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gamma_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "result_json.hpp"

namespace harmonia {
namespace {

const char* average_name(const GammaOptions& options) {
  return options.ball.average == Average::solid ? "solid" : "surface";
}

// A schema that says nothing is as good as none.
bool is_plain(const Feature& f) {
  return f.scale == 1 && !f.bounded() && !f.integer && !f.fixed && !f.mirrored;
}

bool alike(const Schema& a, const Schema& b) {
  if (a.empty() || b.empty()) return std::ranges::all_of(a.empty() ? b : a, is_plain);
  return std::ranges::equal(a, b, [](const Feature& f, const Feature& g) {
    return f.scale == g.scale && f.lower == g.lower && f.upper == g.upper && f.integer == g.integer &&
           f.fixed == g.fixed && f.mirrored == g.mirrored;
  });
}

// In what the baseline differs, in words: its own and the map's. Empty: in nothing that counts.
std::string difference(const SavedMap& map, const SavedBaseline& saved) {
  const GammaOptions &a = saved.baseline.options, &b = map.gamma;
  const auto words = [](const char* what, const auto& of_baseline, const auto& of_map) {
    return fmt::format("{} {}, the map {}", what, of_baseline, of_map);
  };
  const auto outputs = [](bool probabilities) {
    return probabilities ? "log-probabilities" : "plain outputs";
  };
  const auto place = [](bool margin) { return margin ? "before the link" : "after the link"; };
  if (a.output.kind != OutputChoice::Kind::predicted)
    return words("is of output", output_name(a.output), "of predicted");
  if (saved.log_probabilities != map.probabilities)
    return words("is of", outputs(saved.log_probabilities), outputs(map.probabilities));
  if (saved.margin != map.margin) return words("is of the value", place(saved.margin), place(map.margin));
  if (saved.model_output != map.model_output)
    return words("is of the model's output", in_quotes(saved.model_output), in_quotes(map.model_output));
  if (a.ball.radius != b.ball.radius) return words("has radius", a.ball.radius, b.ball.radius);
  if (ball_name(a.ball) != ball_name(b.ball)) return words("has ball", ball_name(a.ball), ball_name(b.ball));
  if (a.ball.average != b.ball.average) return words("has average", average_name(a), average_name(b));
  if (a.sample != b.sample) return words("has sample", a.sample, b.sample);
  if (a.precision != b.precision) return words("has precision", a.precision, b.precision);
  if (a.floor != b.floor) return words("has floor", a.floor, b.floor);
  if (a.confidence != b.confidence) return words("has confidence", a.confidence, b.confidence);
  if (!alike(a.schema, b.schema))
    return fmt::format("has other scales or bounds of the features (--scale {}) than the map (--scale {})",
                       saved.scale, map.scale);
  return {};
}

}  // namespace

MonitorMap monitor_map(const SavedMap& map, const std::string& map_file, const SavedBaseline& baseline,
                       const std::string& baseline_file) {
  if (const std::string what = difference(map, baseline); !what.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{} {}; expected a baseline that is measured as the map: harmonia baseline MODEL "
                            "DATA --map {}",
                            printable(baseline_file, 500), what, printable(map_file, 500)));
  MonitorMap result{map.map, {}, map.steps};
  const std::vector<std::string>& features = baseline.baseline.features;
  for (std::size_t j = 2; j < map.map.inputs.size(); ++j) {
    const auto found = std::ranges::find(features, map.map.inputs[j]);
    if (found == features.end())
      throw Error(
          ErrorCode::usage,
          fmt::format("{} takes {}, which is no feature that the model of {} reads; expected a map "
                      "without --with, or with features alone",
                      printable(map_file, 500), in_quotes(map.map.inputs[j]), printable(baseline_file, 500)));
    result.features.push_back(static_cast<std::size_t>(found - features.begin()));
  }
  return result;
}

std::string map_without_rows(const ResultFile& file) {
  nlohmann::ordered_json frame = parse_result(file, {"map"}, [](nlohmann::ordered_json&) {});
  frame["rows"] = nlohmann::ordered_json::array();
  return dump(frame);
}

}  // namespace harmonia
