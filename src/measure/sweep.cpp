#include "harmonia/measure/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "carriers.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "share_run.hpp"

namespace harmonia {
namespace {

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
