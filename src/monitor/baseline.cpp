#include "harmonia/monitor/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "../measure/gamma_summary.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"
#include "thresholds.hpp"

namespace harmonia {
namespace {

// What the draws of a row are for, apart from what else is drawn of the stream.
constexpr std::uint64_t kDealt = 1, kKept = 2;
constexpr std::size_t kLeastLearned = 10;  // learning rows of a region, at least
constexpr int kMeanBits = 20;              // of gamma's mean above the unit
constexpr int kOutputBits = 30;            // of the outputs' size above the unit, at most

bool has_gamma(const GammaRow& row) { return row.gamma && std::isfinite(*row.gamma); }

// `count` of the rows at these places, drawn by their numbers, in order; the others stay in `places`.
std::vector<std::size_t> draw(std::vector<std::size_t>& places, std::size_t count,
                              std::span<const GammaRow> gamma, std::uint64_t seed, std::uint64_t purpose) {
  std::vector<std::pair<double, std::size_t>> drawn;
  for (const std::size_t place : places) {
    const DrawKey key{seed, Stream::subsample, gamma[place].row, purpose};
    drawn.emplace_back(draw_uniform(key, 0), place);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::size_t> taken;
  places.clear();
  for (std::size_t i = 0; i < drawn.size(); ++i) (i < count ? taken : places).push_back(drawn[i].second);
  std::sort(taken.begin(), taken.end());
  std::sort(places.begin(), places.end());
  return taken;
}

// Bins of a feature: about equally full ones, and those outside of all that was seen.
std::vector<double> feature_edges(const Matrix<double>& rows, std::size_t feature, std::size_t bins) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (std::isfinite(rows.row(i)[feature])) values.push_back(rows.row(i)[feature]);
  }
  if (values.empty()) return {};
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  const double below = std::nextafter(*least, -std::numeric_limits<double>::infinity()), above = *largest;
  std::vector<double> edges;
  if (std::isfinite(below)) edges.push_back(below);
  for (const double cut : equal_cuts(std::move(values), bins)) edges.push_back(cut);
  edges.push_back(above);
  return edges;
}

// Sums are exact up to rounding to this unit, and billions of rows do not fill them.
double sum_unit(std::span<const GammaRow> gamma, const std::vector<std::size_t>& reference) {
  Moments mean, size;
  for (const std::size_t place : reference) {
    mean.add(*gamma[place].gamma);
    if (gamma[place].value && std::isfinite(*gamma[place].value)) size.add(std::abs(*gamma[place].value));
  }
  const double unit = std::max(std::ldexp(mean.mean(), -kMeanBits), std::ldexp(size.mean(), -kOutputBits));
  return std::isnormal(unit) ? std::exp2(std::floor(std::log2(unit))) : std::ldexp(1.0, -kOutputBits);
}

void check(const GammaOptions& measured, const BaselineOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::usage, what); };
  if (measured.output.kind == OutputChoice::Kind::all) {
    refuse("output all has a gamma for every column; a baseline needs one for every row, such as predicted");
  }
  if (!(options.learning_share > 0 && options.learning_share < 1)) {
    refuse(fmt::format("the share of rows to learn regions from is {}; expected above 0 and below 1",
                       options.learning_share));
  }
  if (options.partition.regions < 1) refuse("a baseline of 0 regions was asked for; expected at least 1");
  if (options.partition.least_rows < 1) refuse("regions of 0 rows were asked for; expected at least 1");
  if (options.feature_bins < 2) {
    refuse(fmt::format("{} of a feature was asked for; expected at least 2 bins",
                       counted(options.feature_bins, "bin")));
  }
}

// The learning rows that make for so many reference rows.
PartitionOptions for_learning(PartitionOptions options, std::size_t learning, std::size_t reference) {
  const double share = static_cast<double>(learning) / static_cast<double>(reference);
  options.least_rows = std::max(
      kLeastLearned, static_cast<std::size_t>(std::ceil(share * static_cast<double>(options.least_rows))));
  return options;
}

void learn(Baseline& baseline, MatrixView<const double> rows, std::span<const GammaRow> gamma,
           const std::vector<std::size_t>& learning, const BaselineOptions& options) {
  Matrix<double> learned(learning.size(), rows.columns);
  std::vector<double> values;
  for (std::size_t i = 0; i < learning.size(); ++i) {
    std::copy_n(rows.row(learning[i]), rows.columns, learned.row(i));
    values.push_back(*gamma[learning[i]].gamma);
  }
  baseline.partition =
      make_partition(learned.view(), values,
                     for_learning(options.partition, baseline.learning_rows, baseline.reference_rows));
  for (std::size_t j = 0; j < rows.columns; ++j) {
    baseline.edges.push_back(feature_edges(learned, j, options.feature_bins));
  }
}

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return a > kMost - b ? kMost : a + b;  // neither is below 0
}

double mean_of(const Baseline& baseline, double sum, std::uint64_t rows) {
  return rows == 0 ? 0 : sum * baseline.unit / static_cast<double>(rows);
}

}  // namespace

Baseline make_baseline(MatrixView<const double> rows, std::span<const GammaRow> gamma,
                       const std::vector<std::string>& features, const GammaOptions& measured,
                       std::uint64_t seed, const BaselineOptions& options) {
  assert(gamma.size() == rows.rows && features.size() == rows.columns);
  check(measured, options);
  std::vector<std::size_t> reference;
  for (std::size_t i = 0; i < gamma.size(); ++i) {
    if (has_gamma(gamma[i])) reference.push_back(i);
  }
  const std::size_t measured_rows = reference.size();
  if (measured_rows < kLeastRows) {
    throw Error(ErrorCode::input, fmt::format("{} with a gamma, of {}; a baseline needs at least {}",
                                              counted(measured_rows, "row"), gamma.size(), kLeastRows));
  }
  Baseline baseline;
  baseline.features = features;
  baseline.options = measured;
  baseline.seed = seed;
  baseline.rows_without_value = gamma.size() - measured_rows;
  const auto wanted = std::llround(options.learning_share * static_cast<double>(measured_rows));
  baseline.learning_rows = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, measured_rows - 1);
  baseline.reference_rows = measured_rows - baseline.learning_rows;
  const std::vector<std::size_t> learning = draw(reference, baseline.learning_rows, gamma, seed, kDealt);
  learn(baseline, rows, gamma, learning, options);

  baseline.unit = sum_unit(gamma, reference);
  baseline.counts = no_counts(baseline);
  MeanGamma all;
  std::vector<MeanGamma> means(baseline.partition.regions);
  for (const std::size_t place : reference) {
    const std::span<const double> x(rows.row(place), rows.columns);
    count_row(baseline, x, gamma[place], baseline.counts);
    all.add(gamma[place]);
    means[baseline.partition.region_of(x)].add(gamma[place]);
  }
  baseline.gamma = all.statistics(measured.confidence);
  for (const MeanGamma& mean : means) baseline.regions.push_back(mean.statistics(measured.confidence));
  for (const std::size_t place : draw(reference, options.kept_rows, gamma, seed, kKept)) {
    const std::span<const double> x(rows.row(place), rows.columns);
    baseline.rows.push_back({.values = {x.begin(), x.end()},
                             .gamma = *gamma[place].gamma,
                             .region = baseline.partition.region_of(x),
                             .id = gamma[place].id});
  }
  return baseline;
}

RowCounts no_counts(const Baseline& baseline) {
  RowCounts counts;
  counts.gamma.resize(baseline.partition.regions);
  counts.gamma_sum.resize(baseline.partition.regions);
  for (const std::vector<double>& edges : baseline.edges) counts.features.emplace_back(edges.size() + 2);
  return counts;
}

std::size_t feature_bin(const Baseline& baseline, std::size_t feature, double value) {
  const std::vector<double>& edges = baseline.edges[feature];
  if (std::isnan(value)) return edges.size() + 1;
  return static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin());
}

void count_row(const Baseline& baseline, std::span<const double> x, const GammaRow& row, RowCounts& counts) {
  assert(has_gamma(row) && x.size() == baseline.edges.size());
  const std::size_t region = baseline.partition.region_of(x);
  ++counts.gamma[region][value_bin(*row.gamma)];
  // 2^62 and what is above has to be caught before it is a whole number.
  const double units = std::min(*row.gamma / baseline.unit, std::ldexp(1.0, 62));
  counts.gamma_sum[region] = saturated_sum(counts.gamma_sum[region], std::llround(units));
  for (std::size_t j = 0; j < x.size(); ++j) ++counts.features[j][feature_bin(baseline, j, x[j])];
  if (!row.decided_class) return;
  const bool known = *row.decided_class >= 0 && *row.decided_class < kOtherClass;
  ++counts.classes[known ? static_cast<std::uint32_t>(*row.decided_class) : kOtherClass];
}

void merge(RowCounts& counts, const RowCounts& more) {
  const auto add = [](BinCounts& bins, const BinCounts& others) {
    for (const auto& [bin, times] : others) bins[bin] += times;
  };
  for (std::size_t r = 0; r < counts.gamma.size(); ++r) {
    add(counts.gamma[r], more.gamma[r]);
    counts.gamma_sum[r] = saturated_sum(counts.gamma_sum[r], more.gamma_sum[r]);
  }
  for (std::size_t j = 0; j < counts.features.size(); ++j) {
    for (std::size_t b = 0; b < counts.features[j].size(); ++b) counts.features[j][b] += more.features[j][b];
  }
  add(counts.classes, more.classes);
}

double mean_gamma(const Baseline& baseline, const RowCounts& counts) {
  double sum = 0;
  std::uint64_t rows = 0;
  for (std::size_t r = 0; r < counts.gamma.size(); ++r) {
    sum += static_cast<double>(counts.gamma_sum[r]);
    rows += total(counts.gamma[r]);
  }
  return mean_of(baseline, sum, rows);
}

double mean_gamma(const Baseline& baseline, const RowCounts& counts, std::size_t region) {
  return mean_of(baseline, static_cast<double>(counts.gamma_sum[region]), total(counts.gamma[region]));
}

}  // namespace harmonia
