#include "harmonia/measure/gamma_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kBins = 10, kRowsPerBin = 10;
constexpr double kCalibrationRidge = 1e-3;
constexpr double kLargest = 1e100;  // of an input: squares and their sums are numbers
constexpr double kUlps = 4;         // that a mean of answers may be wrong by

// The rows of a fit, their inputs and outcomes.
struct Sample {
  Matrix<double> x;
  std::vector<char> outcome;
  std::vector<double> gammas;
  std::vector<std::size_t> numbers;  // of the rows in the data
};

bool usable(const MapRow& row) {
  return row.search && row.measured() &&
         std::ranges::all_of(row.extra, [](double v) { return std::isfinite(v); });
}

bool too_large(const MapRow& row) {
  const auto within = [](double v) { return std::abs(v) <= kLargest; };
  return !within(row.place->log_odds) || !within(*row.gamma.gamma) || !std::ranges::all_of(row.extra, within);
}

// Half the smallest gamma that is more than rounding, which is that of the largest logit: points of a ball
// may have it where the row has not. Where all gammas are rounding they are equal, whatever the floor.
double floor_of(const std::vector<const MapRow*>& rows, double epsilon, std::size_t& floored) {
  double largest = 0, least = std::numeric_limits<double>::infinity();
  for (const MapRow* row : rows) largest = std::max(largest, std::abs(row->place->logit));
  floored = 0;
  for (const MapRow* row : rows) {
    const double gamma = *row->gamma.gamma;
    if (gamma > kUlps * epsilon * largest) {
      least = std::min(least, gamma);
    } else {
      ++floored;
    }
  }
  return std::isfinite(least) ? least / 2 : 1;
}

Sample sample_of(const std::vector<const MapRow*>& rows, const GammaMap& map) {
  Sample sample{Matrix<double>(rows.size(), map.inputs.size()), {}, {}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> inputs = map.inputs_of(*question_of(*rows[i]));
    std::copy(inputs.begin(), inputs.end(), sample.x.row(i));
    sample.outcome.push_back(rows[i]->search->stable ? 1 : 0);
    sample.gammas.push_back(*rows[i]->gamma.gamma);
    sample.numbers.push_back(rows[i]->row);
  }
  return sample;
}

// The fold of every row: each outcome is dealt out in an order drawn by the seed.
std::vector<std::size_t> deal(const Sample& sample, std::size_t folds, std::uint64_t seed) {
  std::vector<std::size_t> fold(sample.outcome.size());
  std::size_t next = 0;
  for (const bool outcome : {true, false}) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < fold.size(); ++i) {
      const DrawKey key{seed, Stream::folds, sample.numbers[i], 0};
      if ((sample.outcome[i] != 0) == outcome) order.emplace_back(draw_uniform(key, 0), i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [drawn, i] : order) fold[i] = next++ % folds;
  }
  return fold;
}

// Log-odds of every row by a fit on the other folds; none if one of them allows none.
std::optional<std::vector<double>> held_out(const Sample& sample, const std::vector<std::size_t>& fold,
                                            std::size_t folds, double ridge) {
  std::vector<double> answers(fold.size());
  for (std::size_t f = 0; f < folds; ++f) {
    const auto size = static_cast<std::size_t>(std::count(fold.begin(), fold.end(), f));
    Matrix<double> x(fold.size() - size, sample.x.columns());
    std::vector<char> outcome;
    for (std::size_t i = 0; i < fold.size(); ++i) {
      if (fold[i] == f) continue;
      std::copy(sample.x.row(i), sample.x.row(i) + x.columns(), x.row(outcome.size()));
      outcome.push_back(sample.outcome[i]);
    }
    const std::optional<Logistic> fit = fit_logistic(x.view(), outcome, ridge);
    if (!fit) return std::nullopt;
    for (std::size_t i = 0; i < fold.size(); ++i) {
      if (fold[i] == f) answers[i] = fit->log_odds({sample.x.row(i), x.columns()});
    }
  }
  return answers;
}

// Stable and unstable rows' scores.
struct Split {
  std::vector<double> positive, negative;
};

template <class Score>
Split split(const Sample& sample, const Score& score) {
  Split result;
  for (std::size_t i = 0; i < sample.outcome.size(); ++i)
    (sample.outcome[i] != 0 ? result.positive : result.negative).push_back(score(i));
  return result;
}

void rank(MapValidation& result, const Sample& sample, const std::vector<double>& answers,
          double confidence) {
  const Split map = split(sample, [&](std::size_t i) { return answers[i]; });
  const Split p = split(sample, [&](std::size_t i) { return sample.x.row(i)[0]; });
  const Split gamma = split(sample, [&](std::size_t i) { return -sample.gammas[i]; });
  const auto area = [&](const Split& s) { return auroc(s.positive, s.negative, confidence); };
  const auto gain = [&](const Split& other) {
    return auroc_difference({map.positive, other.positive, map.negative, other.negative}, confidence);
  };
  result.map = area(map);
  result.probability = area(p);
  result.gamma = area(gamma);
  result.over_probability = gain(p);
  result.over_gamma = gain(gamma);
}

// From the regression of the outcomes on held-out log-odds, in their own units; returns its errors.
CalibrationErrors calibrate(MapValidation& result, const Logistic& fit, const MapFitOptions& options) {
  const double unit = fit.scales[0], shift = fit.means[0] / unit;
  const auto covariance = [&](std::size_t i, std::size_t j) { return fit.covariance.row(i)[j]; };
  const double z = normal_quantile(0.5 + options.confidence / 2);
  const auto estimate = [&](double value, double variance) {
    const double half = z * std::sqrt(variance);
    return MapEstimate{value, {value - half, value + half}};
  };
  CalibrationErrors errors;
  errors.slope = covariance(1, 1) / (unit * unit);
  errors.together = covariance(0, 1) / unit - fit.means[0] * errors.slope;
  errors.intercept =
      std::max(0.0, covariance(0, 0) - 2 * shift * covariance(0, 1) + shift * shift * covariance(1, 1));
  result.slope = estimate(fit.coefficients[1] / unit, errors.slope);
  result.intercept = estimate(fit.coefficients[0] - shift * fit.coefficients[1], errors.intercept);
  return errors;
}

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

MapMean mean_with_interval(const Moments& moments, double confidence) {
  MapMean mean{moments.count(), moments.mean(), {}};
  if (moments.count() < 2 || !(moments.deviation() > 0)) return mean;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(moments.count() - 1));
  const Interval ends = mean_interval(moments, t);
  mean.interval = Interval{std::max(0.0, ends.low), ends.high};
  return mean;
}

void judge(MapValidation& result, const Sample& sample, const std::vector<double>& answers,
           double confidence) {
  Moments squares, losses;
  std::vector<std::pair<double, bool>> sorted;
  std::size_t stable = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool outcome = sample.outcome[i] != 0;
    const double p = logistic(answers[i]), left = (outcome ? 1 : 0) - p;
    squares.add(left * left);
    losses.add(log_loss(answers[i], outcome));
    sorted.emplace_back(p, outcome);
    stable += outcome ? 1 : 0;
  }
  result.brier = mean_with_interval(squares, confidence);
  result.log_loss = mean_with_interval(losses, confidence);
  const double share = static_cast<double>(stable) / static_cast<double>(answers.size());
  result.brier_of_share = share * (1 - share);
  std::sort(sorted.begin(), sorted.end());
  const std::size_t bins = std::clamp<std::size_t>(sorted.size() / kRowsPerBin, 1, kBins);
  for (std::size_t b = 0; b < bins; ++b) {
    const std::size_t first = b * sorted.size() / bins, end = (b + 1) * sorted.size() / bins;
    MapBin bin{sorted[first].first, sorted[end - 1].first, 0, {}};
    Moments mean;
    for (std::size_t i = first; i < end; ++i) {
      mean.add(sorted[i].first);
      bin.stable.hits += sorted[i].second ? 1 : 0;
    }
    bin.mean = mean.mean();
    bin.stable.rows = end - first;
    bin.stable.interval = wilson_interval(bin.stable.hits, bin.stable.rows, confidence);
    result.bins.push_back(bin);
  }
}

// None if the rows of a fold allow no fit.
std::optional<MapValidation> validate(const Sample& sample, GammaMap& map, std::size_t folds,
                                      const MapFitOptions& options) {
  std::optional<std::vector<double>> answers =
      held_out(sample, deal(sample, folds, options.seed), folds, options.ridge);
  if (!answers) return std::nullopt;
  // A ridge of its own: the map's would shrink the slope that is asked for.
  const std::optional<Logistic> line =
      fit_logistic({answers->data(), answers->size(), 1}, sample.outcome, kCalibrationRidge);
  if (!line) return std::nullopt;
  MapValidation result;
  result.folds = folds;
  rank(result, sample, *answers, options.confidence);
  const CalibrationErrors errors = calibrate(result, *line, options);
  map.recalibrated = !holds(result.slope.interval, 1) || !holds(result.intercept.interval, 0);
  if (map.recalibrated) {
    map.intercept = result.intercept.value;
    map.slope = std::max(0.0, result.slope.value);  // a map that is worth nothing is flat, not upside down
    map.calibration = errors;
    for (double& answer : *answers) answer = map.intercept + map.slope * answer;
  }
  judge(result, sample, *answers, options.confidence);
  return result;
}

// The rows of a fit; counts them, and those that are left out.
std::vector<const MapRow*> choose(const MapRows& rows, MapFit& result) {
  std::vector<const MapRow*> used;
  std::size_t large = 0;
  for (const MapRow& row : rows.rows) {
    const bool far = usable(row) && too_large(row);
    large += far ? 1 : 0;
    if (far || !usable(row)) {
      ++result.left_out;
      continue;
    }
    used.push_back(&row);
    ++(row.search->stable ? result.stable : result.unstable);
  }
  if (large > 0) {
    result.warnings.push_back(
        fmt::format("{} left out of the map: log-odds, gamma or a further variable of more than {}",
                    large == 1 ? "1 row is" : fmt::format("{} rows are", large), kLargest));
  }
  if (used.empty()) {
    result.reason = large > 0 ? "no row has numbers that a map can be fitted on: there is no map"
                              : "no row has both a gamma and a search: there is no map";
  } else if (result.stable == 0 || result.unstable == 0) {
    result.reason = fmt::format("all {} are {}: there is nothing to tell apart, and no map",
                                counted(used.size(), "row"), result.stable > 0 ? "stable" : "unstable");
  }
  return used;
}

// The least and the largest of every input.
std::vector<Interval> ranges_of(const Matrix<double>& x) {
  std::vector<Interval> ranges;
  for (std::size_t j = 0; j < x.columns(); ++j) {
    Interval range{x.row(0)[j], x.row(0)[j]};
    for (std::size_t i = 1; i < x.rows(); ++i) {
      range.low = std::min(range.low, x.row(i)[j]);
      range.high = std::max(range.high, x.row(i)[j]);
    }
    ranges.push_back(range);
  }
  return ranges;
}

void give_up(MapFit& result, const std::string& reason) {
  result.reason = reason;
  result.warnings.push_back(reason);
}

}  // namespace

double log_odds_of(double probability) {
  if (!(probability > 0 && probability < 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("P is {}; expected between 0 and 1 (of a P that rounds to 1, give its log-odds)",
                            probability));
  }
  return std::log(probability) - std::log1p(-probability);
}

std::optional<MapQuestion> question_of(const MapRow& row) {
  if (!row.measured()) return std::nullopt;
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const double gamma = *row.gamma.gamma;
  return MapQuestion{
      row.place->log_odds, gamma, {row.gamma.low.value_or(0), row.gamma.high.value_or(kUnknown)}, row.extra};
}

std::optional<MapAnswer> answer_of(const GammaMap& map, const MapRow& row) {
  const std::optional<MapQuestion> question = question_of(row);
  bool whole = question && std::isfinite(question->log_odds) && std::isfinite(question->gamma);
  for (const double value : row.extra) whole &= std::isfinite(value);
  return whole ? std::optional(map.predict(*question)) : std::nullopt;
}

double CalibrationErrors::variance(double log_odds) const {
  return std::max(0.0, intercept + 2 * log_odds * together + log_odds * log_odds * slope);
}

std::vector<double> GammaMap::inputs_of(const MapQuestion& question) const {
  std::vector<double> x{question.log_odds, std::log(std::max(question.gamma, floor))};
  x.insert(x.end(), question.extra.begin(), question.extra.end());
  return x;
}

void GammaMap::check_variables(std::size_t given) const {
  if (given + 2 == inputs.size()) return;
  throw Error(ErrorCode::usage,
              fmt::format("the map has {}; {} given", counted(inputs.size() - 2, "further variable"),
                          given == 1 ? "1 was" : fmt::format("{} were", given)));
}

MapAnswer GammaMap::predict(const MapQuestion& question) const {
  check_variables(question.extra.size());
  const std::vector<double> x = inputs_of(question);
  MapAnswer answer;
  for (std::size_t j = 0; j < x.size(); ++j) answer.outside |= x[j] < ranges[j].low || x[j] > ranges[j].high;
  const double fitted = fit.log_odds(x), middle = intercept + slope * fitted;
  const double error =
      std::hypot(std::max(1.0, slope) * fit.standard_error(x), std::sqrt(calibration.variance(fitted)));
  const double half = normal_quantile(0.5 + confidence / 2) * error;
  const double per_log = slope * fit.coefficients[2] / fit.scales[1];
  // How far gamma's ends move the log-odds; an end that is not known does not count where gamma does not.
  const auto shift = [&](double end) {
    return per_log == 0 ? 0 : per_log * (std::log(std::max(end, floor)) - x[1]);
  };
  const double a = shift(question.gamma_interval.low), b = shift(question.gamma_interval.high);
  const double down = std::max(0.0, -std::min(a, b)), up = std::max(0.0, std::max(a, b));
  answer.probability = logistic(middle);
  answer.interval = {logistic(middle - std::hypot(half, down)), logistic(middle + std::hypot(half, up))};
  return answer;
}

MapFit fit_map(const MapRows& rows, const MapFitOptions& options, Scalar scalar) {
  MapFit result;
  const std::vector<const MapRow*> used = choose(rows, result);
  if (!result.reason.empty()) return result;
  GammaMap map;
  map.confidence = options.confidence;
  map.inputs = {"logit_p", "log_gamma"};
  map.inputs.insert(map.inputs.end(), rows.extra.begin(), rows.extra.end());
  map.floor = floor_of(used, scalar == Scalar::float32 ? 0x1p-24 : 0x1p-53, result.floored);
  const Sample sample = sample_of(used, map);
  map.ranges = ranges_of(sample.x);
  const std::optional<Logistic> fit = fit_logistic(sample.x.view(), sample.outcome, options.ridge);
  if (!fit) {
    give_up(result, fmt::format("a ridge of {} is too small for a map of these rows, whose inputs tell the "
                                "outcomes apart, or each other; expected a larger one: there is no map",
                                options.ridge));
    return result;
  }
  map.fit = *fit;
  const std::size_t folds = std::min({options.folds, result.stable, result.unstable});
  if (folds < 2) {
    result.reason = fmt::format("1 row alone is {}: the map is not cross-validated",
                                result.stable == 1 ? "stable" : "unstable");
  } else {
    result.validation = validate(sample, map, folds, options);
    if (!result.validation) {
      give_up(result, fmt::format("a ridge of {} is too small for the rows of a fold, whose inputs tell the "
                                  "outcomes apart, or each other; expected a larger one: the map is not "
                                  "cross-validated",
                                  options.ridge));
    }
  }
  result.map = std::move(map);
  return result;
}

}  // namespace harmonia
