#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/search/attack.hpp"
#include "moves.hpp"

namespace harmonia {

/// What a search makes of one answer of the model.
struct Reading {
  long long label = 0;
  double value = 0;   ///< output of the first class; of a model of labels alone 1 or 0
  double margin = 0;  ///< that less the largest other output; of labels alone 1 or −1

  /// Reads the answer of a model whose class at the row is `first`. Throws Error(model) if it has no class.
  static Reading of(std::span<const double> outputs, const ModelInfo& model, long long first);
};

/// What all searches share.
struct SearchSetting {
  const AttackOptions& options;
  const Moves& moves;
  const ModelInfo& model;
  std::uint64_t seed = 1;
  const Matrix<double>& others;  ///< rows of the data that a walk along the boundary may start from
};

/// What a search has that wants the gradient at its one point.
class GradientAsk {
 public:
  virtual ~GradientAsk() = default;
  /// Writes the derivatives, by the outputs at the point, of the number whose gradient is wanted. Called from
  /// several threads at once, for different searches.
  virtual void by_outputs(std::span<const double> outputs, std::span<double> out) const = 0;
  /// Takes the outputs and the gradient by the inputs.
  virtual void take(std::span<const double> outputs, std::span<const double> gradient) = 0;
};

/// The search around one row, which is asked in turns: it wants some points, and takes their answers.
class RowSearch {
 public:
  virtual ~RowSearch() = default;
  /// Points that it wants to be asked now; 0: it is done, and its row has all but distances.
  virtual std::size_t wanted() const = 0;
  /// Writes point i of them. Called from several threads at once.
  virtual void write(std::size_t i, std::span<double> x) const = 0;
  /// Takes their answers, one row each, in order.
  virtual void take(MatrixView<const double> answers) = 0;
  /// Not null: the search wants one point now, and its gradient, which this takes in place of take().
  virtual GradientAsk* gradient_ask() { return nullptr; }
};

/// The search that the options ask for. `row` has its first class and logit and its original; it must outlive
/// the search, which leaves path, steps, success, new_class, last_logit, outcome and adversarial in it.
std::unique_ptr<RowSearch> make_search(const SearchSetting& setting, AttackRow& row);

std::unique_ptr<RowSearch> make_gamma_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_paper_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_random_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_nes_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_boundary_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_step_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_cw_search(const SearchSetting& setting, AttackRow& row);
std::unique_ptr<RowSearch> make_lbfgs_search(const SearchSetting& setting, AttackRow& row);

/// Evaluations of each search at most, without that of the row itself.
std::uint64_t gamma_search_cost(const AttackOptions& options, std::size_t units);
std::uint64_t paper_search_cost(const AttackOptions& options, std::size_t units);
std::uint64_t nes_search_cost(const AttackOptions& options);
std::uint64_t boundary_search_cost(const AttackOptions& options, std::size_t inputs);
std::uint64_t step_search_cost(const AttackOptions& options);
std::uint64_t cw_search_cost(const AttackOptions& options);
std::uint64_t lbfgs_search_cost(const AttackOptions& options);

/// The class that the options want a row to come to that the model answers with `outputs`; its first class is
/// known.
std::optional<long long> target_of(const SearchSetting& setting, const AttackRow& row,
                                   std::span<const double> outputs);

/// Enters a step to `x` into the row; the first one of another class, or of the target, ends the search
/// unless it goes on. Returns whether it ends: by that, or by the number of steps.
bool enter_step(const SearchSetting& setting, AttackRow& row, AttackStep step, std::span<const double> x);
/// Ends a search of the row at `x`, which no step was found from.
void enter_stuck(AttackRow& row, std::span<const double> x);

}  // namespace harmonia
