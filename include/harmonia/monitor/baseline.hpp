#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/monitor/partition.hpp"
#include "harmonia/monitor/value_bins.hpp"

namespace harmonia {

/// How a baseline is made.
struct BaselineOptions {
  PartitionOptions partition{};   ///< its least_rows: reference rows that a region is to have, about
  double learning_share = 0.3;    ///< of the rows, that the partition and the bins are learned from
  std::size_t feature_bins = 16;  ///< of every feature, about equally full, besides what is outside of all
  std::size_t kept_rows = 1000;   ///< rows kept with their values, to show beside others
};

/// A row of the reference data.
struct BaselineRow {
  std::vector<double> values;
  double gamma = 0;
  std::size_t region = 0;
  std::string id;  ///< empty: it has none
};

/// Classes from this number on, and below 0, are counted as this one.
constexpr std::uint32_t kOtherClass = 1000;

/// A few numbers about rows that were measured, all of them whole, so that they add up exactly in any order.
struct RowCounts {
  std::vector<BinCounts> gamma;                      ///< by region
  std::vector<std::int64_t> gamma_sum;               ///< by region, in units of Baseline::unit; see count_row
  std::vector<std::vector<std::uint64_t>> features;  ///< by feature and bin; the last bin: missing
  BinCounts classes;                                 ///< of the model's decisions, by number
};

/// gamma on reference data, and what a monitor needs to compare a stream with it. The partition and the
/// features' bins were learned from rows that the counts do not hold: given these, reference rows and rows of
/// a stream without drift are exchangeable.
struct Baseline {
  std::vector<std::string> features;  ///< names of the model's inputs
  GammaOptions options;               ///< how gamma was measured, and is to be measured in the stream
  std::uint64_t seed = 1;
  std::size_t learning_rows = 0, reference_rows = 0;
  std::size_t rows_without_value = 0;  ///< that have no gamma; they are in neither
  Partition partition;
  std::vector<std::vector<double>> edges;  ///< of every feature's bins, ascending, both ends open: a value is
                                           ///< in the first bin whose edge it is not above; see feature_bin
  double unit = 1;                         ///< of integer sums of gamma: a power of two far below its mean,
                                           ///< and not below what the outputs' own size makes rounding
  RowCounts counts;                        ///< of the reference rows
  GammaStatistics gamma;                   ///< of the reference rows
  std::vector<GammaStatistics> regions;    ///< the same, of each
  std::vector<BaselineRow> rows;           ///< some of the reference rows
};

/// A baseline of fewer rows says nothing.
constexpr std::size_t kLeastRows = 20;

/// Makes a baseline of rows (rows × features) and what gamma() gave for them, one entry a row: with output
/// `all` there is none such. Rows are dealt out by a draw that is keyed by the seed and their number,
/// whatever their values. Throws Error(input) if fewer than kLeastRows rows have a gamma, Error(usage) for
/// options that cannot be used.
Baseline make_baseline(MatrixView<const double> rows, std::span<const GammaRow> gamma,
                       const std::vector<std::string>& features, const GammaOptions& measured,
                       std::uint64_t seed, const BaselineOptions& options);

/// Empty counts of the baseline's shape.
RowCounts no_counts(const Baseline& baseline);
/// The bin of a feature that a value is in; the last one if it is missing (NaN).
std::size_t feature_bin(const Baseline& baseline, std::size_t feature, double value);
/// Enters a row that was measured; it must have a gamma. Sums that would pass the largest number stay there.
void count_row(const Baseline& baseline, std::span<const double> x, const GammaRow& row, RowCounts& counts);
/// Adds `more` to `counts`, which has the same shape.
void merge(RowCounts& counts, const RowCounts& more);

/// Mean gamma of counts, over all regions or in one; 0 without rows.
double mean_gamma(const Baseline& baseline, const RowCounts& counts);
double mean_gamma(const Baseline& baseline, const RowCounts& counts, std::size_t region);

}  // namespace harmonia
