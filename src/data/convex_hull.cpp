#include "harmonia/data/convex_hull.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace harmonia {

/// Points scaled to their box, as columns with a last coordinate of 1: weights that sum to 1 keep it.
struct ConvexHull::Points {
  Eigen::MatrixXd columns;
  Eigen::VectorXd centre, range;
};

namespace {

/// The weights that are not zero, and the columns that they belong to.
struct Weights {
  std::vector<Eigen::Index> of;
  Eigen::VectorXd value;

  Eigen::MatrixXd gather(const Eigen::MatrixXd& columns) const {
    Eigen::MatrixXd gathered(columns.rows(), static_cast<Eigen::Index>(of.size()));
    for (std::size_t k = 0; k < of.size(); ++k)
      gathered.col(static_cast<Eigen::Index>(k)) = columns.col(of[k]);
    return gathered;
  }

  // Moves towards `target` until the first weight is 0, and lets go of all that are. At least one goes.
  void move_towards(const Eigen::VectorXd& target) {
    double share = std::numeric_limits<double>::infinity();
    Eigen::Index least = 0;
    for (Eigen::Index k = 0; k < value.size(); ++k) {
      if (target[k] > 0) continue;
      const double until = value[k] > 0 ? value[k] / (value[k] - target[k]) : 0;
      if (!(until < share)) continue;
      share = until;
      least = k;
    }
    value += std::min(share, 1.0) * (target - value);
    value[least] = 0;
    std::vector<Eigen::Index> kept;
    std::vector<double> rest;
    for (Eigen::Index k = 0; k < value.size(); ++k) {
      if (!(value[k] > 0)) continue;
      kept.push_back(of[static_cast<std::size_t>(k)]);
      rest.push_back(value[k]);
    }
    of = std::move(kept);
    value = Eigen::Map<Eigen::VectorXd>(rest.data(), static_cast<Eigen::Index>(rest.size()));
  }
};

}  // namespace

ConvexHull::ConvexHull(const Matrix<double>& points) : points_(std::make_unique<Points>()) {
  assert(points.rows() > 0);
  const auto rows = static_cast<Eigen::Index>(points.rows()), n = static_cast<Eigen::Index>(points.columns());
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> all(
      points.view().data, rows, n);
  const Eigen::VectorXd least = all.colwise().minCoeff(), most = all.colwise().maxCoeff();
  points_->centre = 0.5 * least + 0.5 * most;
  points_->range = (most - least).unaryExpr([](double range) { return range > 0 ? range : 1; });
  points_->columns.resize(n + 1, rows);
  points_->columns.topRows(n) =
      points_->range.cwiseInverse().asDiagonal() * (all.transpose().colwise() - points_->centre);
  points_->columns.row(n).setOnes();
}

ConvexHull::~ConvexHull() = default;

bool ConvexHull::contains(std::span<const double> x) const {
  const Eigen::MatrixXd& columns = points_->columns;
  const Eigen::Index n = columns.rows() - 1;
  Eigen::VectorXd goal(n + 1);
  for (Eigen::Index j = 0; j < n; ++j) {
    goal[j] = (x[static_cast<std::size_t>(j)] - points_->centre[j]) / points_->range[j];
    // Written so that NaN is outside too.
    if (!(std::abs(goal[j]) <= 0.5 + kTolerance)) return false;
  }
  goal[n] = 1;
  Weights weights;
  Eigen::VectorXd rest = goal;
  // Every round brings the weights' point closer, so that none repeats; rounding is what the limit is for.
  const Eigen::Index most_rounds = 100 + 10 * (n + 1);
  for (Eigen::Index round = 0; round < most_rounds; ++round) {
    Eigen::Index best = 0;
    const double reach = (columns.transpose() * rest).maxCoeff(&best);
    // All points, and with them their hull, lie before the plane through `goal` across `rest`.
    if (reach < goal.dot(rest) - kTolerance * rest.norm()) return false;
    if (std::find(weights.of.begin(), weights.of.end(), best) != weights.of.end()) break;
    weights.of.push_back(best);
    weights.value.conservativeResize(weights.value.size() + 1);
    weights.value[weights.value.size() - 1] = 0;
    for (;;) {
      const Eigen::VectorXd target = weights.gather(columns).colPivHouseholderQr().solve(goal);
      if (target.minCoeff() > 0) {
        weights.value = target;
        break;
      }
      weights.move_towards(target);
      if (weights.of.empty()) break;
    }
    if (weights.of.empty()) break;
    rest = goal - weights.gather(columns) * weights.value;
    if (rest.norm() <= kTolerance) return true;
  }
  return rest.norm() <= kTolerance;
}

}  // namespace harmonia
