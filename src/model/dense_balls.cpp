#include "harmonia/model/dense_balls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dense_activation.hpp"
#include "dense_link.hpp"
#include "dense_row.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostLayers = 64;
constexpr std::size_t kMostWeights = std::size_t{1} << 27U;  // of the first layer, which are sorted
constexpr double kCheap = 1 << 23;                           // multiplications that may as well be in double
constexpr std::size_t kWide = std::size_t{1} << 20U;         // weights of a first layer that is wide

std::vector<std::uint32_t> moved_columns(const DenseNetwork& network, const Ball& ball) {
  std::vector<std::uint32_t> moved;
  for (std::size_t j = 0; j < network.inputs(); ++j) {
    if (ball.plain() || !ball.schema()[j].fixed) moved.push_back(static_cast<std::uint32_t>(j));
  }
  return moved;
}

std::vector<double> scales_of(const std::vector<std::uint32_t>& moved, const Ball& ball) {
  std::vector<double> scales;
  for (const std::uint32_t j : moved) {
    if (!ball.scales().empty()) scales.push_back(ball.scales()[j]);
  }
  return scales;
}

}  // namespace

std::string dense_refused(const DenseNetwork& network, const Ball& ball) {
  if (!ball.options().one_coordinate())
    return fmt::format("ball {} moves more than one feature at a time", ball_name(ball.options()));
  if (!ball.plain() && ball.scales().empty()) return "the schema has bounds or whole numbers";
  if (!ball.plain() && ball.schema().size() != network.inputs()) return "the schema is of other features";
  if (network.layers.size() > kMostLayers)
    return fmt::format("the network has {} layers, more than {}", network.layers.size(), kMostLayers);
  if (network.layers.front().weights.size() > kMostWeights)
    return fmt::format("the first layer has more than {} weights", kMostWeights);
  if (network.layers.front().outputs > std::numeric_limits<std::uint32_t>::max() / 4) return "it is too wide";
  return "";
}

struct DenseBalls::Parts {
  Parts(const DenseNetwork& network, const Ball& of, const DenseBallOptions& given)
      : ball(&of),
        options(given),
        moved(moved_columns(network, of)),
        prepared(network, moved, scales_of(moved, of), given.simd) {}

  /// All rows' own sums, slopes, and where tangents lead to bases.
  void begin(std::vector<DenseRow>& rows) const;
  /// The bends, or the whole sum, of one row.
  void measure(DenseRow& row, MutableRowsView differences) const;
  template <class T>
  void measure_in(DenseRow& row, MutableRowsView differences) const;
  /// Sums of rows whose bends are known.
  void finish(std::vector<DenseRow>& rows) const;

  const Ball* ball;
  DenseBallOptions options;
  std::vector<std::uint32_t> moved;
  DensePrepared prepared;
};

void DenseBalls::Parts::begin(std::vector<DenseRow>& rows) const {
  const std::vector<DenseLayer>& layers = prepared.network.layers;
  const DenseWeights& first = prepared.weights.front();
  const bool single = prepared.network.scalar == Scalar::float32 && first.doubles.empty();
  // Of every row itself and then its bases. One of floats that is wide takes most of the time that a single
  // layer takes, and is summed as floats.
  std::vector<double> x, y;
  std::vector<float> floats;
  std::size_t count = 0;
  for (DenseRow& row : rows) {
    count += 1 + row.points.shifts.rows();
    if (single && prepared.hidden() == 1 && row.points.shifts.rows() == 0 && first.floats.size() >= kWide) {
      floats.insert(floats.end(), row.points.x.begin(), row.points.x.end());
    } else {
      x.insert(x.end(), row.points.x.begin(), row.points.x.end());
    }
    const MatrixView<const double> shifts = std::as_const(row.points.shifts).view();
    x.insert(x.end(), shifts.data, shifts.data + shifts.rows * shifts.columns);
    row.shifts.resize(layers.size());
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const DenseLayer& layer = layers[l];
    const bool last = l + 1 == layers.size();
    y.resize(count * layer.outputs);
    if (l == 0 && !floats.empty()) {
      prepared.products->float_rows(first.floats.data(), layer.inputs, layer.outputs, floats.data(), count,
                                    y.data());
    } else {
      prepared.forward(l, x.data(), count, y.data());
    }
    double* at = y.data();
    for (DenseRow& row : rows) {
      std::vector<double> z(at, at + layer.outputs), slope(layer.outputs);
      for (std::size_t k = 0; k < layer.outputs; ++k) {
        z[k] += layer.bias[k];
        at[k] = activated(layer.activation, z[k]);
        slope[k] = slope_at(layer.activation, z[k]);
      }
      at += layer.outputs;
      const std::size_t bases = row.points.shifts.rows();
      if (bases > 0) row.shifts[l].resize(1 + bases, layer.outputs);
      for (std::size_t b = 0; b < bases; ++b, at += layer.outputs) {
        std::copy_n(at, layer.outputs, row.shifts[l].row(1 + b));
        for (std::size_t k = 0; k < layer.outputs; ++k) at[k] *= slope[k];
      }
      if (last) {
        row.outputs = std::move(z);
      } else {
        row.z.push_back(std::move(z));
        row.slope.push_back(std::move(slope));
        row.bends.emplace_back(layer.outputs, 0.0);
      }
    }
    std::swap(x, y);
  }
}

template <class T>
void DenseBalls::Parts::measure_in(DenseRow& row, MutableRowsView differences) const {
  using Path = DenseBallOptions::Path;
  DenseRankOne<T> rank_one(prepared, row);
  if (!prepared.piecewise || options.path == Path::rank_one) return rank_one.run(differences);
  DenseTangents<T> tangents(prepared, row);
  const bool followed = differences.rows > 0;
  if (options.path == Path::automatic && rank_one.cost() < tangents.cost(followed))
    return rank_one.run(differences);
  tangents.run(differences);
}

void DenseBalls::Parts::measure(DenseRow& row, MutableRowsView differences) const {
  using Arithmetic = DenseBallOptions::Arithmetic;
  double work = 0;
  for (std::size_t l = 1; l < prepared.network.layers.size(); ++l)
    work += static_cast<double>(prepared.weights[l].floats.size() * row.points.count());
  const bool exact = options.arithmetic == Arithmetic::float64 ||
                     prepared.network.scalar == Scalar::float64 ||
                     (options.arithmetic == Arithmetic::automatic && work <= kCheap);
  exact ? measure_in<double>(row, differences) : measure_in<float>(row, differences);
}

void DenseBalls::Parts::finish(std::vector<DenseRow>& rows) const {
  std::vector<DenseRow*> open;
  for (DenseRow& row : rows) {
    if (row.sum.empty()) open.push_back(&row);
  }
  const std::vector<DenseLayer>& layers = prepared.network.layers;
  std::vector<double> x, y;
  for (std::size_t l = 0; l < layers.size() && !open.empty(); ++l) {
    const DenseLayer& layer = layers[l];
    y.assign(open.size() * layer.outputs, 0.0);
    for (std::size_t r = 0; r < open.size() && l == 0; ++r) {
      const std::vector<double>& total = open[r]->points.total;
      if (!total.empty()) prepared.forward(0, total.data(), 1, y.data() + r * layer.outputs);
    }
    if (l > 0) prepared.forward(l, x.data(), open.size(), y.data());
    for (std::size_t r = 0; r < open.size(); ++r) {
      double* const sums = y.data() + r * layer.outputs;
      if (l + 1 == layers.size()) {
        open[r]->sum.assign(sums, sums + layer.outputs);
        continue;
      }
      for (std::size_t k = 0; k < layer.outputs; ++k)
        sums[k] = sums[k] * open[r]->slope[l][k] + open[r]->bends[l][k];
    }
    std::swap(x, y);
  }
}

DenseBalls::DenseBalls(const DenseNetwork& network, const Ball& ball, const DenseBallOptions& options) {
  if (const std::string why = dense_refused(network, ball); !why.empty()) throw Error(ErrorCode::usage, why);
  check_dense(network, "given");
  parts_ = std::make_unique<const Parts>(network, ball, options);
}

DenseBalls::~DenseBalls() = default;

bool DenseBalls::takes(const RowBall& ball) const {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (ball.x().size() != parts_->prepared.network.inputs()) return false;
  if (ball.moved() != parts_->moved.size() || ball.moved() == 0) return false;
  for (std::size_t j = 0; j < ball.x().size(); ++j) {
    const double scale = parts_->ball->scales().empty() ? 1 : parts_->ball->scales()[j];
    const double step = 2 * parts_->ball->options().radius * scale;
    if (!(std::abs(ball.x()[j]) + step < kMost)) return false;
  }
  return true;
}

void DenseBalls::sums(std::span<const RowBall* const> balls, MutableRowsView centres,
                      MutableRowsView sums) const {
  const DensePrepared& prepared = parts_->prepared;
  std::vector<DenseRow> rows(balls.size());
  for (std::size_t r = 0; r < balls.size(); ++r)
    rows[r].points = dense_points(*balls[r], parts_->moved, prepared.scales, prepared.network.scalar);
  parts_->begin(rows);
  const bool linked = prepared.network.link != DenseLink::identity;
  Matrix<double> differences;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    DenseRow& row = rows[r];
    if (linked) differences.resize(row.points.count(), prepared.network.outputs());
    parts_->measure(row, differences.view());
    double* const centre = centres.row(r);
    std::copy(row.outputs.begin(), row.outputs.end(), centre);
    if (!linked) continue;
    link_differences(prepared.network.link, {centre, row.outputs.size()}, differences.view());
    row.sum.assign(row.outputs.size(), 0.0);
    for (std::size_t p = 0; p < row.points.count(); ++p) {
      for (std::size_t k = 0; k < row.sum.size(); ++k)
        row.sum[k] += row.points.weight(p) * differences.row(p)[k];
    }
  }
  parts_->finish(rows);
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::copy(rows[r].sum.begin(), rows[r].sum.end(), sums.row(r));
}

void DenseBalls::differences(const RowBall& ball, std::span<double> centre,
                             MutableRowsView differences) const {
  std::vector<DenseRow> rows(1);
  rows.front().points =
      dense_points(ball, parts_->moved, parts_->prepared.scales, parts_->prepared.network.scalar);
  parts_->begin(rows);
  parts_->measure(rows.front(), differences);
  std::copy(rows.front().outputs.begin(), rows.front().outputs.end(), centre.begin());
  link_differences(parts_->prepared.network.link, centre, differences);
}

}  // namespace harmonia
