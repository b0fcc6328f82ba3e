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
  if (count == 0) return;
  const ModelInfo& info = model_.info();
  // Equal shares, so that no thread waits for the last one; but whole ones for a model that computes
  // elsewhere, which makes itself ready for every size that it has not seen.
  const std::size_t rounds = divide_up(count, slots_ * pool_.threads());
  const std::size_t size =
      model_.makes_points() ? slots_ : std::min(slots_, divide_up(count, rounds * pool_.threads()));
  pool_.run(divide_up(count, size), [&](std::size_t worker, std::size_t batch) {
    if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    const std::size_t first = batch * size, part = std::min(size, count - first);
    Batch& own = *batches_[worker];
    own.points.resize(part, info.inputs);
    for (std::size_t i = 0; i < part; ++i) write(first + i, {own.points.row(i), info.inputs});
    run_.ledger.spend(part);
    if (info.scalar == Scalar::float32) {
      own.narrow.resize(part, info.inputs);
      std::transform(own.points.row(0), own.points.row(0) + part * info.inputs, own.narrow.row(0),
                     [](double v) { return static_cast<float>(v); });
      check_points(own.narrow, info);
      answer(std::as_const(own.narrow).view(), first);
    } else {
      check_points(own.points, info);
      answer(std::as_const(own.points).view(), first);
    }
  });
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
