#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harmonia/core/parallel.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/model/shared_units.hpp"

namespace harmonia {

/// Asks a model about points that its caller writes, in batches, on all threads.
class PointAsker {
 public:
  /// Writes the coordinates of point i; called from several threads at once.
  using Write = std::function<void(std::size_t i, std::span<double> x)>;

  /// `batch` is the number of points held in memory at once, over all threads; 0: chosen for the model.
  PointAsker(const Model& model, std::size_t batch, Run& run);
  ~PointAsker();

  const Model& model() const { return model_; }
  Run& run() { return run_; }
  /// Its threads, for points that are answered another way.
  ThreadPool& pool() { return pool_; }

  /// Row i of `answers` (count × outputs) answers point i. Throws Error(usage) if a point is infinite in
  /// the model's numbers (missing values, NaN, are not), Error(model) if an answer is not finite,
  /// Error(interrupted) if the run is stopped.
  void ask(std::size_t count, const Write& write, MatrixView<double> answers);
  /// The same by the units of points, where point i is shared_point(i), called from several threads at once.
  /// Points whose units are not finite are written by `write`.
  using ShareOf = std::function<SharedPoint(std::size_t i)>;
  void ask(const SharedUnits& shared, std::size_t count, const ShareOf& shared_point, const Write& write,
           MatrixView<double> answers);
  /// As the first, with row i of `gradients` (count × inputs) the gradient of the number that `by_outputs`
  /// makes of point i; called from several threads at once. A gradient counts as one evaluation. Throws
  /// Error(model) if one is not finite. The model must be differentiable.
  void ask_gradients(std::size_t count, const Write& write, const Differentiable::ByOutputs& by_outputs,
                     MatrixView<double> answers, MatrixView<double> gradients);

 private:
  struct Batch;
  /// Answers the points from `first` on.
  using Answer = std::function<void(RowsView points, std::size_t first)>;

  /// A batch of one thread: points first … first + count − 1.
  using Part = std::function<void(Batch& own, std::size_t first, std::size_t count)>;

  void run_batches(std::size_t count, const Part& part);
  void ask_batches(std::size_t count, const Write& write, const Answer& answer);
  void ask_points(Batch& own, std::size_t first, std::size_t count, const Write& write, const Answer& answer);
  template <class T>
  std::vector<std::size_t> ask_units(Matrix<T>& units, const SharedUnits& shared, std::size_t first,
                                     const ShareOf& shared_point, MatrixView<double> y) const;
  void check_finite(MatrixView<const double> numbers, const char* what) const;

  const Model& model_;
  Run& run_;
  ThreadPool pool_;
  std::size_t slots_ = 0;
  std::vector<std::unique_ptr<Batch>> batches_;
};

}  // namespace harmonia
