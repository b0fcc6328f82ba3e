#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harmonia/model/black_box.hpp"

namespace harmonia {

/// One thread's batch of points.
class BlackBox::Worker {
 public:
  virtual ~Worker() = default;
  /// From now on batches have so many points at most.
  virtual void set_batch(std::size_t /*points*/) {}
  /// Finds where the next batch is to be written; by the thread that will ask.
  virtual void make_room() {}
  /// Writes the next points of the requests, so many, those of the first one from `skip` on.
  virtual void write(std::span<const PointRequest> requests, std::uint64_t skip, std::size_t count) = 0;
  /// Asks for the points that were written, as many as y has rows.
  virtual void ask(MatrixView<double> y) = 0;
};

/// W·x + b of the rows of a wave.
class RowStarts {
 public:
  /// Finds those of the rows that the wave before did not have.
  void find(std::span<const PointRequest> requests, const SharedUnits& shared, ThreadPool& pool) {
    std::unordered_map<std::uint64_t, std::vector<double>> known;
    known.swap(of_row_);
    std::vector<const RowBall*> balls;
    std::vector<const double*> rows;
    for (const PointRequest& request : requests) {
      const std::uint64_t row = request.ball->row();
      const auto [at, is_new] = of_row_.try_emplace(row);
      if (!is_new) continue;
      if (const auto before = known.find(row); before != known.end()) {
        at->second = std::move(before->second);
      } else {
        balls.push_back(request.ball);
        rows.push_back(request.ball->x().data());
      }
    }
    found_.resize(rows.size(), shared.units());
    shared.starts(rows, pool, found_.view());
    for (std::size_t i = 0; i < balls.size(); ++i)
      of_row_[balls[i]->row()].assign(found_.row(i), found_.row(i) + found_.columns());
  }

  const double* find(std::uint64_t row) const { return of_row_.at(row).data(); }

 private:
  std::unordered_map<std::uint64_t, std::vector<double>> of_row_;
  Matrix<double> found_;
};

/// Writes points in the units of the model's first layer; those whose units are not finite are asked for as
/// points.
template <class T>
class BlackBox::UnitsWorker final : public Worker {
 public:
  using MakePoints = std::function<std::unique_ptr<Worker>()>;

  /// make_points: makes one that writes points.
  UnitsWorker(const SharedUnits& shared, const RowStarts& starts, MakePoints make_points)
      : shared_(shared), starts_(starts), make_points_(std::move(make_points)), reader_(shared) {}

  void set_batch(std::size_t points) override {
    if (points_ != nullptr) points_->set_batch(points);
  }

  void write(std::span<const PointRequest> requests, std::uint64_t skip, std::size_t count) override {
    write_units(requests, skip, count);
    if (as_points_.empty()) return;
    if (points_ == nullptr) points_ = make_points_();
    points_->make_room();
    points_->write(requests, skip, count);
  }

  void ask(MatrixView<double> y) override {
    shared_.layer().answer(std::as_const(units_).view(), y);
    if (as_points_.empty()) return;
    answers_.resize(y.rows, y.columns);
    points_->ask(answers_.view());
    for (const std::size_t slot : as_points_) std::copy_n(answers_.row(slot), y.columns, y.row(slot));
  }

 private:
  void write_units(std::span<const PointRequest> requests, std::uint64_t skip, std::size_t count) {
    units_.resize(count, shared_.units());
    as_points_.clear();
    std::size_t slot = 0;
    for (auto request = requests.begin(); slot < count; ++request, skip = 0) {
      const RowBall& ball = *request->ball;
      const double* const start = starts_.find(ball.row());
      if (request->centre && skip == 0) put(slot++, {start, 0, 0});
      if (request->centre && skip > 0) --skip;
      const std::size_t points = ball.shape().points();
      std::size_t p = skip % points;
      for (std::uint64_t i = skip / points; i < request->count && slot < count; ++i, p = 0) {
        const std::uint64_t unit = request->unit(i);
        for (; p < points && slot < count; ++p) {
          const RowBall::Place place = ball.place(unit, p);
          put(slot++, {start, place.radius * place.sign, unit});
        }
      }
    }
  }

  void put(std::size_t slot, const SharedPoint& point) {
    const std::span<T> out(units_.row(slot), units_.columns());
    if (reader_.write(point, out)) return;
    std::fill(out.begin(), out.end(), T{0});
    as_points_.push_back(slot);
  }

  const SharedUnits& shared_;
  const RowStarts& starts_;
  MakePoints make_points_;
  SharedUnits::Reader reader_;
  Matrix<T> units_;
  std::unique_ptr<Worker> points_;      // made when it is first needed
  std::vector<std::size_t> as_points_;  // slots
  Matrix<double> answers_;              // to points
};

}  // namespace harmonia
