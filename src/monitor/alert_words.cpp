#include "alert_words.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kNamed = 3;  // regions and features that the sentences name

bool apart(const GammaStatistics& a, const GammaStatistics& b) {
  return a.low && a.high && b.low && b.high && (*a.low > *b.high || *a.high < *b.low);
}

const char* becomes(const AlertPart& part) {
  if (!apart(part.before, part.since)) return "is distributed differently";
  const bool larger = *part.since.mean > *part.before.mean;
  if (part.finding.change == Change::slow)
    return larger ? "is slowly becoming larger" : "is slowly becoming smaller";
  return larger ? "is larger" : "is smaller";
}

std::string with_interval(const GammaStatistics& gamma) {
  if (!gamma.mean) return "unknown";
  if (!gamma.low || !gamma.high) return fmt::format("{:.3g}", *gamma.mean);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", *gamma.mean, *gamma.low, *gamma.high);
}

}  // namespace

std::string change_name(Change change) {
  switch (change) {
    case Change::larger:
      return "larger";
    case Change::smaller:
      return "smaller";
    case Change::slow:
      return "slow";
    default:
      return "shape";
  }
}

std::string time_text(Time time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(std::floor(time))));
}

std::string alert_words(const Alert& alert, double false_alarms) {
  std::string text = fmt::format("Since measured row {} ({})", alert.since_number, time_text(alert.since));
  for (std::size_t i = 0; i < alert.parts.size() && i < kNamed; ++i) {
    const AlertPart& part = alert.parts[i];
    const std::string where = part.finding.region ? "where " + part.where : "over " + part.where;
    text += i == 0 ? fmt::format(" gamma {} {}", becomes(part), where) : fmt::format(" Also {}", where);
    text += fmt::format(": mean {} over {} rows, {} in the baseline.", with_interval(part.since),
                        part.since.rows, with_interval(part.before));
  }
  if (alert.parts.size() > kNamed)
    text += fmt::format(" {} changed too.", counted(alert.parts.size() - kNamed, "further part"));
  for (std::size_t i = 0; i < alert.features.size() && i < kNamed; ++i)
    text += fmt::format(" {} is {}.", alert.features[i].name, alert.features[i].text);
  text += fmt::format(
      " A stream without drift raises an alert, ever, with probability at most {:.3g}; this one has p = "
      "{:.2g}.",
      false_alarms, alert.p_value);
  const AlertPart& surest = alert.parts.front();
  const bool larger = surest.since.mean.value_or(0) >= surest.before.mean.value_or(0);
  if (alert.complete && larger && !alert.rows.empty() && !alert.rows.front().back &&
      !alert.rows.front().reason.empty())
    text += fmt::format(" No change that brings gamma of the first row back was found: {}.",
                        alert.rows.front().reason);
  if (alert.ended) text += fmt::format(" It ended at {}.", time_text(*alert.ended));
  return text;
}

}  // namespace harmonia
