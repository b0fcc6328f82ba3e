#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// A plane of few dimensions that rows lie near to: their mean, and directions.
class Manifold {
 public:
  /// `directions`, one a row, may be of any length and may depend on each other: what is kept of them is an
  /// orthonormal basis of what they span. Throws Error(input) if they span nothing or are not finite.
  Manifold(std::vector<double> mean, const Matrix<double>& directions);

  std::size_t inputs() const { return basis_.columns(); }
  /// Its dimensions: the rank of the directions.
  std::size_t dimensions() const { return basis_.rows(); }
  const std::vector<double>& mean() const { return mean_; }
  /// Orthonormal rows.
  const Matrix<double>& basis() const { return basis_; }

  /// The part of a vector along the plane.
  void project(std::span<const double> vector, std::span<double> out) const;
  /// The nearest row of the plane.
  void project_row(std::span<const double> row, std::span<double> out) const;

 private:
  std::vector<double> mean_;
  Matrix<double> basis_;
};

/// How a plane is fitted to rows.
struct ManifoldOptions {
  std::size_t components = 28;  ///< principal directions, those of the largest variance
  bool by_label = false;  ///< so many for the rows of every label, around their own mean, taken together
};

/// What principal components are found for.
struct ComponentsFound {
  std::vector<double> mean;   ///< of all rows
  Matrix<double> directions;  ///< of unit length; of different labels not at right angles
  double explained = 0;       ///< share of the variance (around the labels' means, by label) that they keep
  std::size_t rows = 0;
};

/// The principal components of the data's rows, which are read once. Throws Error(input) for rows without
/// labels where they are asked for, missing values, rows that vary in fewer directions than there are
/// components, or more than kMostManifold features; Error(interrupted) if stopped.
ComponentsFound principal_components(RowSource& data, const ManifoldOptions& options,
                                     const std::stop_token& stop = {});
constexpr std::size_t kMostManifold = 4096;  ///< features: a covariance of all pairs is formed

/// Throws Error(input) if both have names of columns and they are not the same in the same order.
void check_same_columns(const DataInfo& rows, const DataInfo& data);

}  // namespace harmonia
