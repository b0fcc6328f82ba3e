#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What the logits of one row come to. Logits may be large: nothing overflows.
struct LogitPlace {
  std::size_t decided_class = 0;  ///< the largest, the first of equals
  std::size_t classes = 0;
  double logit = 0;     ///< of that class
  double mean = 0;      ///< of all logits
  double log_odds = 0;  ///< log P/(1 − P) of the softmax probability P, exact where P rounds to 1

  double probability() const;
  /// P·e^{−Nγ} [Kersting 2024, eq. 5.2, second part], and its logarithm.
  double score(double steps_times_gamma) const;
  double log_score(double steps_times_gamma) const;
  /// e^{L−Nγ}/(e^{L−Nγ} + (K−1)e^{L̄}) [eq. 5.2, first part], as log-odds.
  double two_exponential_log_odds(double steps_times_gamma) const;
  /// The same with the sum of the other classes' exponentials instead of (K−1)e^{L̄}: the softmax of a logit
  /// that fell by Nγ. As log-odds.
  double softmax_log_odds(double steps_times_gamma) const;
};

/// Of two logits or more.
LogitPlace logit_place(std::span<const double> logits);

/// What a search for another class found from one row.
struct MapSearch {
  std::size_t row = 0;
  bool stable = false;  ///< the class was the same after every step
  double drift = 0;     ///< of the first class's logit: after the last step minus before the first
};

/// One row of the map.
struct MapRow {
  std::size_t row = 0;
  std::string id, label;
  std::optional<LogitPlace> place;  ///< none if the run's evaluations ran out
  GammaRow gamma;                   ///< in the logit of the decided class
  std::optional<bool> correct;      ///< none if the label is not known to be one of the classes
  std::optional<MapSearch> search;  ///< none if none was made
  std::vector<double> extra;        ///< further variables; NaN is a missing one

  /// It has a place and a gamma.
  bool measured() const { return place && gamma.gamma; }
};

/// Rows that are measured and not yet searched.
struct MapRows {
  std::vector<MapRow> rows;
  std::size_t steps = 25;            ///< N
  std::vector<std::string> extra;    ///< names of the further variables
  std::vector<std::string> classes;  ///< names of the model's classes; empty: numbers
  double confidence = 0.95;
  GammaSummary gamma;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// Measures logits and gamma of every row of the data, which is read twice. The outputs of `model` are taken
/// as logits (see make_logit_model); gamma is that of the decided class, whatever `options.output` says. One
/// evaluation a row is asked besides gamma's. Numbers are kept, never the rows' values.
MapRows map_rows(const Model& model, RowSource& data, const GammaOptions& options, std::size_t steps,
                 Run& run);

/// Enters what a search found, in any order; rows that are not there are left out.
void enter_searches(MapRows& rows, const std::vector<MapSearch>& searches);

/// Further variables of rows.
struct MapVariables {
  std::vector<std::string> names;
  Matrix<double> values;         ///< rows × variables
  std::vector<std::string> ids;  ///< of the rows; empty: row i is about row i of the data
};

/// All rows of a source.
MapVariables read_variables(RowSource& data);

/// Throws Error(input) if there are none for a row of the data, which is read and rewound: what
/// enter_variables() would say after the rows were measured.
void check_variables(RowSource& data, const MapVariables& variables);

/// Enters further variables, by id or by number. Throws Error(input) if there are none for a row.
void enter_variables(MapRows& rows, const MapVariables& variables);

/// Of evaluations that are left, how many map_rows() may take so that as much is left for searches, of which
/// one costs `search`, as the rows that it measures may need.
std::uint64_t map_share(const GammaOptions& options, std::size_t inputs, std::uint64_t search,
                        std::uint64_t left);

}  // namespace harmonia
