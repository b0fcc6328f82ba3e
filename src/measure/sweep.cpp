#include "harmonia/measure/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "carriers.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "share_run.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostRadii = 10000;

[[noreturn]] void fail(std::string_view part, const std::string& what) {
  throw Error(ErrorCode::usage,
              fmt::format("radii {}: {}; expected LOW..HIGHxCOUNT, log:LOW..HIGHxCOUNT or numbers above 0",
                          in_quotes(part), what));
}

double radius_of(std::string_view part, std::string_view text) {
  const auto value = read_number(text);
  if (!value) fail(part, fmt::format("{} is not a number", in_quotes(text)));
  if (!(*value > 0) || !std::isfinite(*value)) fail(part, fmt::format("{} is no radius", *value));
  return *value;
}

void add_part(std::string_view part, std::vector<double>& radii) {
  std::string_view rest = trim(part);
  const bool logarithmic = rest.starts_with("log:");
  if (logarithmic) rest.remove_prefix(4);
  const std::size_t dots = rest.find(".."), times = rest.rfind('x');
  if (dots == std::string_view::npos) {
    if (logarithmic) fail(part, "log: needs a range");
    radii.push_back(radius_of(part, rest));
    return;
  }
  if (times == std::string_view::npos || times < dots) fail(part, "the range has no count");
  const double low = radius_of(part, rest.substr(0, dots)),
               high = radius_of(part, rest.substr(dots + 2, times - dots - 2));
  std::size_t count = 0;
  const char* end = rest.data() + rest.size();
  if (std::from_chars(rest.data() + times + 1, end, count) != std::from_chars_result{end, std::errc{}} ||
      count < 2 || count > kMostRadii) {
    fail(part, fmt::format("{} is no count from 2 to {}", in_quotes(rest.substr(times + 1)), kMostRadii));
  }
  if (!(low < high)) fail(part, fmt::format("{} is not below {}", low, high));
  for (std::size_t i = 0; i < count; ++i) {
    const auto above = static_cast<double>(i), below = static_cast<double>(count - 1 - i);
    // Divided last: 0.1..0.5x3 then has the double nearest to 0.3.
    const double inner = logarithmic ? low * std::pow(high / low, above / (above + below))
                                     : (low * below + high * above) / (above + below);
    radii.push_back(i == 0 ? low : (i + 1 == count ? high : inner));
  }
}

// The exponent is Σ w_k log(mean_k). To first order a row moves it by Σ w_k (gamma_k − mean_k)/mean_k, and
// these moves of the rows are a sample whose mean has an interval.
std::optional<GrowthExponent> growth(const std::vector<SweepPoint>& points,
                                     const std::vector<std::vector<double>>& gammas, double confidence) {
  if (points.size() < 2) return std::nullopt;
  double centre = 0;
  for (const SweepPoint& point : points) {
    const GammaStatistics& gamma = point.summary.gamma;
    if (!gamma.mean || !(*gamma.mean > 0) || gamma.rows != points.front().summary.gamma.rows)
      return std::nullopt;
    centre += std::log(point.radius) / static_cast<double>(points.size());
  }
  double squares = 0;
  for (const SweepPoint& point : points) squares += std::pow(std::log(point.radius) - centre, 2);
  GrowthExponent result;
  bool exact = true, carried = true;
  std::vector<double> moves(gammas.front().size(), 0.0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double weight = (std::log(points[k].radius) - centre) / squares,
                 mean = *points[k].summary.gamma.mean;
    result.value += weight * std::log(mean);
    Carriers carriers;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      moves[i] += weight * (gammas[k][i] - mean) / mean;
      if (!std::isnan(gammas[k][i])) carriers.add(gammas[k][i]);
    }
    carried &= carriers.enough();
    const auto& outcomes = points[k].summary.outcomes;
    for (const Outcome sampled : {Outcome::sampled, Outcome::floor, Outcome::sparse, Outcome::budget}) {
      exact &= outcomes[static_cast<std::size_t>(sampled)] == 0;
    }
  }
  Moments moved;
  for (const double move : moves) {
    if (!std::isnan(move)) moved.add(move);
  }
  if (!exact || !carried || moved.count() < 2) return result;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(moved.count() - 1));
  const Interval interval = mean_interval(moved, t);
  result.low = result.value + interval.low;
  result.high = result.value + interval.high;
  return result;
}

}  // namespace

std::vector<double> parse_radii(const std::string& text) {
  std::vector<double> radii;
  std::string_view rest = text;
  for (bool last = false; !last;) {
    const std::size_t comma = rest.find(',');
    add_part(rest.substr(0, comma), radii);
    last = comma == std::string_view::npos;
    if (!last) rest.remove_prefix(comma + 1);
  }
  std::sort(radii.begin(), radii.end());
  radii.erase(std::unique(radii.begin(), radii.end()), radii.end());
  return radii;
}

SweepResult sweep(const Model& model, RowSource& data, const std::vector<double>& radii,
                  const GammaOptions& options, Run& run) {
  SweepResult result;
  std::vector<std::vector<double>> gammas;
  for (std::size_t k = 0; k < radii.size(); ++k) {
    GammaOptions at = options;
    at.ball.radius = radii[k];
    std::vector<double> column;
    double sum = 0;
    std::size_t entries = 0, row = 0;
    // With output `all` a row has several entries; their average counts.
    const auto close = [&] {
      if (entries > 0) column.push_back(sum / static_cast<double>(entries));
      sum = 0;
      entries = 0;
    };
    const auto sink = [&](const GammaRow& entry) {
      if (entry.row != row) close();
      row = entry.row;
      sum += entry.gamma.value_or(std::numeric_limits<double>::quiet_NaN());
      ++entries;
    };
    data.rewind();
    SharedRun part(run, k, radii.size());
    result.points.push_back({radii[k], gamma(model, data, at, part.run(), sink)});
    close();
    result.evaluations += result.points.back().summary.evaluations;
    if (k > 0 && column.size() != gammas.front().size()) {
      throw Error(ErrorCode::input,
                  fmt::format("{} changed while it was read: it had {}, and then {}", data.info().source,
                              counted(gammas.front().size(), "row"), column.size()));
    }
    gammas.push_back(std::move(column));
  }
  data.rewind();
  result.growth = growth(result.points, gammas, options.confidence);
  return result;
}

}  // namespace harmonia
