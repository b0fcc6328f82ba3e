#include "text_forms.hpp"

#include <algorithm>
#include <cmath>

#include "harmonia/core/text.hpp"

namespace harmonia {

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  if (*value == 0) return "0";
  const double size = std::abs(*value);
  return size >= 1e-4 && size < 1e6 ? fmt::format("{:.4g}", *value) : fmt::format("{:.3e}", *value);
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string interval(const std::optional<double>& low, const std::optional<double>& high) {
  return fmt::format("[{}, {}]", low ? number(low) : "?", high ? number(high) : "?");
}

std::string data_text(const DataInfo& data, std::size_t rows) {
  std::string text =
      fmt::format("{}: {} row{} of {} feature{}", printable(data.source, std::string::npos), grouped(rows),
                  rows == 1 ? "" : "s", grouped(data.inputs), data.inputs == 1 ? "" : "s");
  if (data.jittered) text += ", jittered";
  if (!data.window.empty()) text += fmt::format(", window {}", data.window);
  for (const std::string& region : data.regions) text += fmt::format(", in {}", printable(region));
  return text;
}

std::string outcomes_text(const GammaSummary& summary) {
  std::string text;
  for (std::size_t i = 0; i < summary.outcomes.size(); ++i) {
    if (summary.outcomes[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(summary.outcomes[i]),
                        outcome_name(static_cast<Outcome>(i)));
  }
  return text;
}

std::string fast_paths_text(const std::vector<std::string>& paths) {
  std::vector<std::string> each;
  for (const std::string& path : paths)
    if (!path.empty() && std::ranges::find(each, path) == each.end()) each.push_back(path);
  if (each.empty()) return {};
  return fmt::format("by the fast path for {}, which stands for them; --no-fast-path makes them\n",
                     fmt::join(each, " and "));
}

std::string cost_text(std::uint64_t evaluations, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(evaluations) / seconds : 0;
  return fmt::format("{} evaluations in {:.3g} s ({:.3g} a second)\n", grouped(evaluations), seconds, rate);
}

std::string what_was_done(const GammaRunRecord& record, bool with_radius) {
  const GammaOptions& o = record.options;
  std::string text = fmt::format("{} ball", ball_name(o.ball));
  if (with_radius) {
    text += fmt::format(", radius {}{}", o.ball.radius, record.automatic_radius ? " (found: auto)" : "");
  }
  if (o.ball.average == Average::solid) text += ", solid";
  if (o.paper) text += ", the paper's own procedure";
  if (o.sample > 0) text += fmt::format(", sample {}", o.sample);
  if (o.precision > 0) text += fmt::format(", precision {} floor {}", o.precision, o.floor);
  return text;
}

std::string interval_meaning(const DataInfo& data) {
  if (data.spacing.empty()) {
    return "intervals are about the population that the rows stand for, taken as a random sample of it";
  }
  if (data.jittered) {
    return "each row is drawn at random from a cell of a grid: intervals are those of as many points drawn "
           "from "
           "its whole box, which one in every cell keeps with more certainty";
  }
  return "the rows are a grid, no random sample: intervals are those of as many points drawn at random from "
         "its box; a grid that does not alias comes closer to the box's average";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace harmonia
