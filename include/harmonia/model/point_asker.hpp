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

  /// Row i of `answers` (count × outputs) answers point i. Throws Error(usage) if a point is infinite in
  /// the model's numbers (missing values, NaN, are not), Error(model) if an answer is not finite,
  /// Error(interrupted) if the run is stopped.
  void ask(std::size_t count, const Write& write, MatrixView<double> answers);

 private:
  struct Batch;

  const Model& model_;
  Run& run_;
  ThreadPool pool_;
  std::size_t slots_ = 0;
  std::vector<std::unique_ptr<Batch>> batches_;
};

}  // namespace harmonia
