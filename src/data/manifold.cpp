#include "harmonia/data/manifold.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t kMostProducts = std::size_t{1} << 28;  // of features, over all labels: 2 GiB
constexpr double kNoVariance = 1e-12;     // of the largest: directions of less mean nothing
constexpr double kSameDirection = 1e-10;  // of the largest singular value: what is less is dependence

/// Sums of rows and of products of their features, around the first row, which keeps digits.
class Scatter {
 public:
  explicit Scatter(const Eigen::VectorXd& origin)
      : origin_(origin),
        sum_(Eigen::VectorXd::Zero(origin.size())),
        products_(Eigen::MatrixXd::Zero(origin.size(), origin.size())) {}

  void add(const RowMajor& rows) {
    const RowMajor moved = rows.rowwise() - origin_.transpose();
    sum_ += moved.colwise().sum().transpose();
    products_.selfadjointView<Eigen::Lower>().rankUpdate(moved.transpose());
    count_ += static_cast<std::size_t>(rows.rows());
  }

  std::size_t count() const { return count_; }
  Eigen::VectorXd mean() const { return origin_ + sum_ / static_cast<double>(count_); }
  /// Its lower half.
  Eigen::MatrixXd around_mean() const {
    Eigen::MatrixXd scatter = products_;
    scatter.selfadjointView<Eigen::Lower>().rankUpdate(sum_, -1 / static_cast<double>(count_));
    return scatter;
  }

 private:
  Eigen::VectorXd origin_, sum_;
  Eigen::MatrixXd products_;
  std::size_t count_ = 0;
};

void check_row(const double* row, std::size_t number, std::size_t inputs, const DataInfo& data) {
  for (std::size_t j = 0; j < inputs; ++j) {
    if (std::isfinite(row[j])) continue;
    throw Error(ErrorCode::input,
                fmt::format("{}: row {} has {} in column {}; the plane of the data takes finite numbers",
                            data.source, number, row[j], feature_name(data, j)));
  }
}

std::map<std::string, Scatter> read_scatters(RowSource& data, bool by_label, const std::stop_token& stop) {
  const std::size_t inputs = data.info().inputs;
  std::map<std::string, Scatter> scatters;
  RowBlock block;
  Eigen::VectorXd origin;
  while (data.read(block, rows_per_block(inputs))) {
    if (by_label && block.labels.empty()) {
      throw Error(ErrorCode::input, fmt::format("{} has no labels; components by label take --label COLUMN",
                                                data.info().source));
    }
    const std::size_t rows = block.values.rows();
    for (std::size_t i = 0; i < rows; ++i)
      check_row(block.values.row(i), block.number(i), inputs, data.info());
    if (origin.size() == 0)
      origin = Eigen::Map<const Eigen::VectorXd>(block.values.row(0), static_cast<Eigen::Index>(inputs));
    if (stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    std::map<std::string, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < rows; ++i) places[by_label ? block.labels[i] : ""].push_back(i);
    for (const auto& [label, of_label] : places) {
      RowMajor part(of_label.size(), inputs);
      for (std::size_t i = 0; i < of_label.size(); ++i)
        std::copy_n(block.values.row(of_label[i]), inputs, part.row(static_cast<Eigen::Index>(i)).data());
      scatters.try_emplace(label, origin).first->second.add(part);
      if (scatters.size() * inputs * inputs > kMostProducts) {
        throw Error(ErrorCode::input,
                    fmt::format("{} has more than {} labels; components by label of {} features take fewer",
                                data.info().source, kMostProducts / (inputs * inputs), inputs));
      }
    }
  }
  return scatters;
}

}  // namespace

Manifold::Manifold(std::vector<double> mean, const Matrix<double>& directions) : mean_(std::move(mean)) {
  const Eigen::Map<const RowMajor> all(directions.view().data, static_cast<Eigen::Index>(directions.rows()),
                                       static_cast<Eigen::Index>(directions.columns()));
  if (!all.allFinite()) throw Error(ErrorCode::input, "directions of a plane are not finite");
  // Right singular vectors of what is more than dependence: a basis of the span, whatever the directions.
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(all, Eigen::ComputeThinV);
  const double largest = svd.singularValues().size() > 0 ? svd.singularValues()(0) : 0;
  const auto rank = (svd.singularValues().array() > kSameDirection * largest).count();
  if (rank == 0)
    throw Error(ErrorCode::input, "directions of a plane are all zero; expected one that is not");
  basis_.resize(static_cast<std::size_t>(rank), directions.columns());
  Eigen::Map<RowMajor>(basis_.row(0), rank, all.cols()) = svd.matrixV().leftCols(rank).transpose();
}

void Manifold::project(std::span<const double> vector, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t k = 0; k < basis_.rows(); ++k) {
    const double* const direction = basis_.row(k);
    double along = 0;
    for (std::size_t j = 0; j < vector.size(); ++j) along += direction[j] * vector[j];
    for (std::size_t j = 0; j < vector.size(); ++j) out[j] += along * direction[j];
  }
}

void Manifold::project_row(std::span<const double> row, std::span<double> out) const {
  std::vector<double> from_mean(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) from_mean[j] = row[j] - mean_[j];
  project(from_mean, out);
  for (std::size_t j = 0; j < row.size(); ++j) out[j] += mean_[j];
}

ComponentsFound principal_components(RowSource& data, const ManifoldOptions& options,
                                     const std::stop_token& stop) {
  const std::size_t inputs = data.info().inputs;
  if (options.components == 0) throw Error(ErrorCode::usage, "components is 0; expected at least 1");
  if (options.components >= inputs) {
    throw Error(ErrorCode::usage,
                fmt::format("components is {}; rows have {} features, and a plane in them has fewer",
                            options.components, inputs));
  }
  if (inputs > kMostManifold) {
    throw Error(ErrorCode::input, fmt::format("{} has {} features; a plane is fitted to at most {}",
                                              data.info().source, inputs, kMostManifold));
  }
  const std::map<std::string, Scatter> scatters = read_scatters(data, options.by_label, stop);
  const auto of_label = [&](const std::string& label) {
    return options.by_label ? fmt::format(", label {},", in_quotes(label)) : std::string();
  };
  ComponentsFound found;
  found.directions.resize(options.components * scatters.size(), inputs);
  double kept = 0, all = 0;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(inputs));
  std::size_t next = 0;
  for (const auto& [label, scatter] : scatters) {
    if (scatter.count() <= options.components) {
      throw Error(ErrorCode::input,
                  fmt::format("{}{} has {}; expected more than the {}", data.info().source, of_label(label),
                              counted(scatter.count(), "row"), counted(options.components, "component")));
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scatter.around_mean());
    for (std::size_t k = 0; k < options.components; ++k) {
      const auto column = static_cast<Eigen::Index>(inputs - 1 - k);  // they ascend
      const double largest = solver.eigenvalues()(static_cast<Eigen::Index>(inputs) - 1);
      if (!(solver.eigenvalues()(column) > kNoVariance * largest)) {
        throw Error(
            ErrorCode::input,
            fmt::format("the rows of {}{} vary in {}, not in {}; expected fewer components",
                        data.info().source, of_label(label), counted(k, "direction"), options.components));
      }
      Eigen::Map<Eigen::VectorXd>(found.directions.row(next++), static_cast<Eigen::Index>(inputs)) =
          solver.eigenvectors().col(column);
      kept += solver.eigenvalues()(column);
    }
    all += std::max(0.0, solver.eigenvalues().sum());
    sum += scatter.mean() * static_cast<double>(scatter.count());
    found.rows += scatter.count();
  }
  if (found.rows == 0) throw Error(ErrorCode::input, fmt::format("{} has no rows", data.info().source));
  sum /= static_cast<double>(found.rows);
  found.mean.assign(sum.data(), sum.data() + sum.size());
  found.explained = all > 0 ? kept / all : 1;
  return found;
}

void check_same_columns(const DataInfo& rows, const DataInfo& data) {
  const std::vector<std::string>&own = rows.features, &names = data.features;
  if (own.empty() || names.empty() || own == names) return;
  const auto [mine, theirs] = std::mismatch(own.begin(), own.end(), names.begin(), names.end());
  throw Error(ErrorCode::input,
              fmt::format("{} has column {} where {} has {}; expected the same columns in the same order",
                          rows.source, mine == own.end() ? "no" : in_quotes(*mine), data.source,
                          theirs == names.end() ? "none" : in_quotes(*theirs)));
}

}  // namespace harmonia
