#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/black_box.hpp"

namespace harmonia {

/// Two-sided quantiles of Student's t, each computed once.
class StudentQuantiles {
 public:
  /// |t| <= result with probability 1 − alpha.
  double operator()(double alpha, std::uint64_t freedom);

 private:
  std::map<std::pair<double, std::uint64_t>, double> known_;
};

/// How many directions of a ball are visited, and in which order.
struct VisitPlan {
  std::uint64_t limit = 0;  ///< directions visited at most
  bool whole = false;       ///< reaching the limit means having seen the whole ball
  bool shuffled = false;    ///< visited in a random order, so that any part of them is a sample
};

/// The plan for a ball of this shape. Throws Error(usage) for options that fit no plan.
VisitPlan plan_visit(const BallShape& shape, const GammaOptions& options);

/// gamma of one row, from answers that come in pieces. Sums are formed in the order of the visit, so that
/// they do not depend on the pieces.
class RowEstimator {
 public:
  /// `limit` may be below the plan's own if the budget allows no more.
  RowEstimator(RowBall ball, const VisitPlan& plan, std::uint64_t limit, const GammaOptions& options,
               const Observer& observer, Scalar scalar);
  /// Starts anew with another row. Memory is kept: most rows are so small that asking for it would be most of
  /// the work.
  void restart(RowBall ball, const VisitPlan& plan, std::uint64_t limit);

  const RowBall& ball() const { return ball_; }
  bool started() const { return started_; }
  /// Evaluations that it may still ask for.
  std::uint64_t cost_left() const;
  /// Directions to evaluate before it can decide anything.
  std::uint64_t wanted() const { return target_ - done_; }
  /// The next `count` <= wanted() directions, with the centre if it was not asked for yet.
  PointRequest next(std::uint64_t count);
  /// Has its memory brought back to the cache, which a model's work may have taken; the parts of it once it
  /// is there itself.
  void prefetch() const;
  void prefetch_parts() const;
  /// Takes the answers to a request.
  void take(const PointRequest& request, MatrixView<const double> answers);
  /// Takes the answers to all that it may ask for, of a visit in the units' order that has not started.
  void take(const BallAnswer& answer);
  /// True when no more is wanted; otherwise wanted() has grown.
  bool decide(StudentQuantiles& quantiles);
  /// The row's entries: one, or one a column.
  std::vector<GammaRow> entries(StudentQuantiles& quantiles) const;

 private:
  struct Sums {
    CompensatedSum all, halves[2];
    Moments spread;
    double sizes = 0, squares = 0;      // Σ |value| and Σ value² of the values that are more than rounding
    std::vector<Contribution> explain;  // heap, the least on top
  };
  struct Estimate {
    double gamma = 0, split = 0, standard_error = 0;
    Interval interval;
    std::optional<double> delta;
    bool defined = true;
    bool sparse = false;
  };

  void visit(const VisitPlan& plan, std::uint64_t limit);
  void shuffle_to(std::uint64_t count);
  void take_centre(std::span<const double> outputs);
  // The sum of one column is all that is asked for.
  bool only_column() const { return column_ && !plan_.shuffled && options_->explain == 0; }
  void take_column(const BallAnswer& answer);
  double column_value(MatrixView<const double> answers) const;
  void value_unit(MatrixView<const double> answers);
  void add_unit(std::uint64_t unit);
  void note(Sums& sums, std::uint64_t unit, double value) const;
  double alpha() const;
  bool exact() const { return plan_.whole && done_ == plan_.limit; }
  double mean(std::size_t j) const { return sums_[j].all.value() / static_cast<double>(done_); }
  double half_mean(std::size_t j, int half) const;
  double correction() const;
  double standard_error(std::size_t j) const;
  bool sparse(std::size_t j) const;
  std::size_t entry_count() const;
  Estimate estimate(std::size_t entry, StudentQuantiles& quantiles) const;
  Estimate scalar_estimate(std::size_t j, double t) const;
  Estimate norm_estimate(double t) const;
  Estimate angle_estimate(double t) const;

  RowBall ball_;
  VisitPlan plan_;
  std::uint64_t limit_ = 0;
  const GammaOptions* options_;
  const Observer* observer_;
  std::vector<std::uint32_t> order_;
  std::uint64_t shuffled_ = 0;
  bool started_ = false;
  std::uint64_t done_ = 0, target_ = 0;
  std::uint64_t look_ = 0;
  bool met_precision_ = false, met_floor_ = false;
  double rounding_;                    // what of an output may be rounding, relative to its size
  std::optional<std::size_t> column_;  // all that is taken from an answer, if it is one
  std::vector<double> centre_outputs_, centre_, unit_, point_, size_;
  std::vector<Sums> sums_;
};

}  // namespace harmonia
