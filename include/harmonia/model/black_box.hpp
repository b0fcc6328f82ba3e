#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/core/run.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/model/shared_units.hpp"

namespace harmonia {

class BatchTuner;

/// Units of one row's ball to be evaluated: order[first] … order[first + count − 1], or the units of these
/// very numbers if there is no order.
struct PointRequest {
  const RowBall* ball = nullptr;
  const std::uint32_t* order = nullptr;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool centre = false;  ///< the row itself comes before its units

  std::uint64_t unit(std::uint64_t i) const { return order == nullptr ? first + i : order[first + i]; }
  std::uint64_t points() const { return (centre ? 1 : 0) + count * ball->shape().points(); }
};

/// Asks a model for the points of many balls. Points of several rows are packed into one batch; a point that
/// differs from its base in one coordinate costs one write, whatever the number of features. Where nobody
/// says how large a batch is to be, it is measured which size is soonest done.
class BlackBox {
 public:
  /// `batch` is the number of points held in memory at once, over all threads; 0: chosen for the model.
  BlackBox(const Model& model, std::size_t batch, Run& run);
  /// With as many threads as said; by the units of points where `shared` has those of the balls'
  /// displacements.
  BlackBox(const Model& model, std::size_t batch, Run& run, std::size_t threads,
           const SharedUnits* shared = nullptr);
  ~BlackBox();

  /// Threads that suit the model, the batch and the run.
  static std::size_t threads_for(const Model& model, std::size_t batch, const Run& run);

  /// Points held in memory at once.
  std::size_t batch() const;
  /// Points that it likes to be asked for at once: many, but not so many that nothing is heard of it for
  /// long.
  std::size_t wave() const { return wave_; }
  /// Its threads, for what is done with the answers.
  ThreadPool& pool() { return pool_; }
  /// One row of answers a point, in the order of the requests. Balls are of one kind; rows of different balls
  /// need different numbers. Throws Error(model) if an answer is not finite, Error(interrupted) if the run is
  /// stopped. `beside`, unless it is empty, is called once meanwhile, by one of the threads.
  void evaluate(std::span<const PointRequest> requests, MatrixView<double> answers,
                const std::function<void()>& beside = {});

  /// evaluate() in steps, for points that are written on another thread than the one that asks: batch() at
  /// most, in one call of the model. First room is made for them, on the thread that will ask.
  void make_room();
  /// Then they are written,
  void write(std::span<const PointRequest> requests);
  /// and then asked for.
  void ask(std::span<const PointRequest> requests, MatrixView<double> answers);

 private:
  class Worker;
  template <class T>
  class TypedWorker;
  template <class T>
  class SendingWorker;
  template <class T>
  class UnitsWorker;
  template <class T>
  std::unique_ptr<Worker> make_worker() const;

  void find_starts(std::span<const PointRequest> requests);
  void use_tuned();
  std::size_t least_wave() const;
  std::uint64_t batch_size(std::uint64_t total, std::size_t unit) const;
  void pace(std::uint64_t points, double seconds);
  void check(std::span<const PointRequest> requests, std::uint64_t skip, MatrixView<const double> y) const;

  const Model& model_;
  Run& run_;
  std::size_t slots_ = 0;
  std::size_t wave_ = 0;
  ThreadPool pool_;
  std::unique_ptr<BatchTuner> tuner_;  // none: the size of batches stays
  const SharedUnits* shared_;
  std::unique_ptr<class RowStarts> row_starts_;  // none: points are written
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint64_t> starts_;  // of the wave: the number of the first point of each request
};

}  // namespace harmonia
