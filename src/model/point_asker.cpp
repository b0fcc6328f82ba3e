#include "harmonia/model/point_asker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "batching.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {

struct PointAsker::Batch {
  Matrix<double> points;
  Matrix<float> narrow;  // the points for a model of single precision
};

namespace {

// Rows are finite, and so a point is that was not moved too far.
template <class T>
void check_points(const Matrix<T>& points, const ModelInfo& model) {
  const T *const first = points.row(0), *const end = first + points.rows() * points.columns();
  const T* const wrong = std::find_if(first, end, [](T value) { return std::isinf(value); });
  if (wrong == end) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("a point to ask is infinite in column {} as a {}-bit number of model {}; expected a "
                  "smaller sigma or radius, or data of smaller values",
                  static_cast<std::size_t>(wrong - first) % points.columns(), 8 * sizeof(T), model.name));
}

}  // namespace

PointAsker::PointAsker(const Model& model, std::size_t batch, Run& run)
    : model_(model), run_(run), pool_(thread_count(model.info(), run.threads, batch)) {
  slots_ = whole_slots(model.info(), batch, pool_.threads());
  if (batch == 0 && model.makes_points()) slots_ = std::bit_floor(slots_);
  for (std::size_t i = 0; i < pool_.threads(); ++i) batches_.push_back(std::make_unique<Batch>());
}

PointAsker::~PointAsker() = default;

void PointAsker::ask(std::size_t count, const Write& write, MatrixView<double> answers) {
  ask_batches(count, write, [&](RowsView points, std::size_t first) {
    const MatrixView<double> y = answers.slice(first, points.rows());
    model_.evaluate(points, y);
    check_finite(y, "output");
  });
}

void PointAsker::ask(const SharedUnits& shared, std::size_t count, const ShareOf& shared_point,
                     const Write& write, MatrixView<double> answers) {
  run_batches(count, [&](Batch& own, std::size_t first, std::size_t part) {
    const MatrixView<double> y = answers.slice(first, part);
    const auto left = model_.info().scalar == Scalar::float32
                          ? ask_units(own.narrow, shared, first, shared_point, y)
                          : ask_units(own.points, shared, first, shared_point, y);
    if (!left.empty()) {
      Matrix<double> others(left.size(), y.columns);
      ask_points(
          own, 0, left.size(), [&](std::size_t i, std::span<double> x) { write(first + left[i], x); },
          [&](RowsView points, std::size_t) { model_.evaluate(points, others.view()); });
      for (std::size_t i = 0; i < left.size(); ++i) std::copy_n(others.row(i), y.columns, y.row(left[i]));
    }
    check_finite(y, "output");
  });
}

// Answers what it can of the points from `first` on; the others are those whose units are not finite.
template <class T>
std::vector<std::size_t> PointAsker::ask_units(Matrix<T>& units, const SharedUnits& shared, std::size_t first,
                                               const ShareOf& shared_point, MatrixView<double> y) const {
  SharedUnits::Reader reader(shared);
  std::vector<std::size_t> left;
  units.resize(y.rows, shared.units());
  for (std::size_t i = 0; i < y.rows; ++i) {
    const std::span<T> out(units.row(i), units.columns());
    if (reader.write(shared_point(first + i), out)) continue;
    std::fill(out.begin(), out.end(), T{0});
    left.push_back(i);
  }
  shared.layer().answer(std::as_const(units).view(), y);
  return left;
}

void PointAsker::ask_gradients(std::size_t count, const Write& write,
                               const Differentiable::ByOutputs& by_outputs, MatrixView<double> answers,
                               MatrixView<double> gradients) {
  ask_batches(count, write, [&](RowsView points, std::size_t first) {
    const MatrixView<double> y = answers.slice(first, points.rows()),
                             g = gradients.slice(first, points.rows());
    const auto of_batch = [&](std::size_t i, std::span<const double> outputs, std::span<double> out) {
      by_outputs(first + i, outputs, out);
    };
    model_.differentiable()->gradient(points, of_batch, y, g);
    check_finite(y, "output");
    check_finite(g, "the gradient by input");
  });
}

void PointAsker::ask_batches(std::size_t count, const Write& write, const Answer& answer) {
  run_batches(count, [&](Batch& own, std::size_t first, std::size_t part) {
    ask_points(own, first, part, write, answer);
  });
}

void PointAsker::run_batches(std::size_t count, const Part& part) {
  if (count == 0) return;
  // Equal shares, so that no thread waits for the last one; but whole ones for a model that computes
  // elsewhere, which makes itself ready for every size that it has not seen.
  const std::size_t rounds = divide_up(count, slots_ * pool_.threads());
  const std::size_t size =
      model_.makes_points() ? slots_ : std::min(slots_, divide_up(count, rounds * pool_.threads()));
  pool_.run(divide_up(count, size), [&](std::size_t worker, std::size_t batch) {
    if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    const std::size_t first = batch * size, some = std::min(size, count - first);
    run_.ledger.spend(some);
    part(*batches_[worker], first, some);
  });
}

void PointAsker::ask_points(Batch& own, std::size_t first, std::size_t count, const Write& write,
                            const Answer& answer) {
  const ModelInfo& info = model_.info();
  own.points.resize(count, info.inputs);
  for (std::size_t i = 0; i < count; ++i) write(first + i, {own.points.row(i), info.inputs});
  if (info.scalar == Scalar::float32) {
    own.narrow.resize(count, info.inputs);
    std::transform(own.points.row(0), own.points.row(0) + count * info.inputs, own.narrow.row(0),
                   [](double v) { return static_cast<float>(v); });
    check_points(own.narrow, info);
    answer(std::as_const(own.narrow).view(), first);
  } else {
    check_points(own.points, info);
    answer(std::as_const(own.points).view(), first);
  }
}

void PointAsker::check_finite(MatrixView<const double> numbers, const char* what) const {
  const double* const end = numbers.data + numbers.rows * numbers.columns;
  const double* const wrong =
      std::find_if(numbers.data, end, [](double number) { return !std::isfinite(number); });
  if (wrong == end) return;
  throw Error(ErrorCode::model,
              fmt::format("model {} answered {} in {} {}; expected finite numbers", model_.info().name,
                          *wrong, what, static_cast<std::size_t>(wrong - numbers.data) % numbers.columns));
}

}  // namespace harmonia
