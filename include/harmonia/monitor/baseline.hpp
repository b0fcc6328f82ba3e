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
  PartitionOptions partition;
  double learning_share = 0.3;    ///< of the rows, that the partition and the bins are learned from
  std::size_t feature_bins = 16;  ///< of every feature, about equally full
  std::size_t kept_rows = 1000;   ///< rows kept with their values, to show beside others
};

/// A row of the reference data.
struct BaselineRow {
  std::vector<double> values;
  double gamma = 0;
  std::size_t region = 0;
  std::string id;  ///< empty: it has none
};

/// A few numbers about rows that were measured, all of them whole, so that they add up exactly in any order.
struct RowCounts {
  std::vector<BinCounts> gamma;                      ///< by region
  std::vector<std::int64_t> gamma_sum;               ///< by region, in units of Baseline::unit
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
  std::vector<std::vector<double>> edges;  ///< of every feature's bins, ascending, both ends open
  double unit = 1;                         ///< of integer sums of gamma: a power of two far below its mean
  RowCounts counts;                        ///< of the reference rows
  GammaStatistics gamma;                   ///< of the reference rows
  std::vector<GammaStatistics> regions;    ///< the same, of each
  std::vector<BaselineRow> rows;           ///< some of the reference rows
};

/// Makes a baseline of rows (rows × features) and what gamma() gave for them, one entry a row: with output
/// `all` there is none. Rows are dealt out by a keyed draw. Throws Error(input) if fewer than 20 rows have a
/// gamma.
Baseline make_baseline(MatrixView<const double> rows, std::span<const GammaRow> gamma,
                       const std::vector<std::string>& features, const GammaOptions& measured,
                       std::uint64_t seed, const BaselineOptions& options);

/// Empty counts of the baseline's shape.
RowCounts no_counts(const Baseline& baseline);
/// Enters a row that was measured; it must have a gamma.
void count_row(const Baseline& baseline, std::span<const double> x, const GammaRow& row, RowCounts& counts);
/// Adds `more` to `counts`, which has the same shape.
void merge(RowCounts& counts, const RowCounts& more);

/// Mean gamma of counts, over all regions or in one; 0 without rows.
double mean_gamma(const Baseline& baseline, const RowCounts& counts);
double mean_gamma(const Baseline& baseline, const RowCounts& counts, std::size_t region);

}  // namespace harmonia
