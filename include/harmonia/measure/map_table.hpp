#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/measure/map_rows.hpp"

namespace harmonia {

/// A mean over rows. The interval is that of the population's mean, by Student's t with Hall's correction for
/// skewness; none for fewer than two rows, or rows that are all alike.
struct MapMean {
  std::size_t rows = 0;
  std::optional<double> mean;
  std::optional<Interval> interval;
};

/// A share of rows, with Wilson's interval.
struct MapShare {
  std::uint64_t hits = 0, rows = 0;
  Interval interval{0, 1};

  std::optional<double> share() const {
    return rows == 0 ? std::nullopt : std::optional(static_cast<double>(hits) / static_cast<double>(rows));
  }
};

/// Groups of fewer rows are marked: their intervals say more than their means.
constexpr std::size_t kFewRows = 10;

/// Rows of one class, or all [Kersting 2024, table 3].
struct MapGroup {
  std::string name;
  std::size_t rows = 0;
  MapMean logit, mean_logit, probability;
  GammaStatistics gamma;
  MapMean score, two_exponential, softmax;  ///< means over the rows of LogitPlace's three
  std::optional<double> score_of_means;  ///< mean P times e^{−N · mean gamma}, as the paper's table has it
  MapMean drift;                         ///< of the logit after N steps, of rows that were searched
  MapShare correct, stable;

  bool few() const { return rows < kFewRows; }
};

/// How a number of the rows goes with their stability.
struct MapCorrelation {
  std::string name;
  std::optional<Correlation> by_row;  ///< with 1 for stable and 0 for not (point-biserial)
  /// That stable rows have more of it than others (of gamma: less).
  std::optional<Auroc> auroc;
  std::size_t stable = 0, unstable = 0;  ///< rows that both are of
  std::optional<Correlation> by_class;   ///< of the classes' means with the classes' shares of stable rows
};

/// Table 3 of a model.
struct MapTable {
  bool by_label = false;         ///< classes are the rows' labels; else the model's decisions
  std::vector<MapGroup> groups;  ///< a class each, numbers as numbers
  MapGroup all;
  std::vector<MapCorrelation> correlations;
  std::optional<Correlation> drift_with_gamma;  ///< row by row: the drift's size with N·gamma
};

/// Means, shares and correlations. Rows without a value are left out of the means that need it.
MapTable map_table(const MapRows& rows);

}  // namespace harmonia
