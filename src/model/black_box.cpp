#include "harmonia/model/black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kSlotBytes = std::size_t{32} << 20;  // of one thread's batch, unless the user says
constexpr std::size_t kWaveBytes = std::size_t{16} << 20;  // of the answers of a wave
constexpr std::size_t kPreferredSlots = 1024;
constexpr std::size_t kBatchesInWave = 8;

std::size_t scalar_bytes(Scalar scalar) { return scalar == Scalar::float32 ? sizeof(float) : sizeof(double); }

std::size_t thread_count(const ModelInfo& info, std::size_t asked, std::size_t batch) {
  if (!info.reentrant) return 1;
  std::size_t threads = asked != 0 ? asked : info.preferred_threads;
  if (threads == 0) threads = hardware_threads();
  return batch == 0 ? threads : std::min(threads, batch);
}

std::size_t slot_count(const ModelInfo& info, std::size_t batch, std::size_t threads) {
  if (batch != 0) return batch / threads;
  const std::size_t preferred = info.preferred_batch != 0 ? info.preferred_batch : kPreferredSlots;
  return std::clamp<std::size_t>(kSlotBytes / (info.inputs * scalar_bytes(info.scalar)), 1, preferred);
}

}  // namespace

/// One thread's batch of points.
class BlackBox::Worker {
 public:
  virtual ~Worker() = default;
  virtual void put_centre(std::size_t slot, const RowBall& ball) = 0;
  virtual void put(std::size_t slot, const RowBall& ball, std::uint64_t unit, std::size_t p) = 0;
  virtual RowsView points(std::size_t count) const = 0;
};

template <class T>
class BlackBox::TypedWorker final : public Worker {
 public:
  TypedWorker(std::size_t slots, std::size_t inputs) : points_(slots, inputs), slots_(slots) {}

  void put_centre(std::size_t slot, const RowBall& ball) override { put_base(slot, ball, {}); }

  void put(std::size_t slot, const RowBall& ball, std::uint64_t unit, std::size_t p) override {
    const RowBall::Place place = ball.place(unit, p);
    if (place.dense) return put_dense(slot, ball, unit, place);
    put_base(slot, ball, place);
    if (place.own == RowBall::Place::kNone) return;
    points_.row(slot)[place.own] = static_cast<T>(ball.own_coordinate(place));
    slots_[slot].place.own = place.own;
  }

  RowsView points(std::size_t count) const override { return points_.view().slice(0, count); }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  // What a slot holds: a base of a row's ball, with the coordinate place.own replaced.
  struct Slot {
    std::uint64_t row = kNobody;
    RowBall::Place place;
  };

  void put_base(std::size_t slot, const RowBall& ball, const RowBall::Place& place) {
    Slot& held = slots_[slot];
    T* const out = points_.row(slot);
    const bool same_sphere = held.place.radius == place.radius || place.base == 0;
    if (held.row == ball.row() && held.place.base == place.base && same_sphere) {
      // Undo the one write instead of filling the row again.
      if (held.place.own != RowBall::Place::kNone) {
        out[held.place.own] = static_cast<T>(ball.base_coordinate(held.place, held.place.own));
      }
    } else {
      ball.fill(place, std::span<T>(out, points_.columns()));
    }
    held = {ball.row(), place};
    held.place.own = RowBall::Place::kNone;
  }

  void put_dense(std::size_t slot, const RowBall& ball, std::uint64_t unit, const RowBall::Place& place) {
    if (direction_row_ != ball.row() || direction_unit_ != unit) {
      direction_.resize(points_.columns());
      ball.direction(unit, direction_);
      direction_row_ = ball.row();
      direction_unit_ = unit;
    }
    ball.fill_dense(place, direction_, std::span<T>(points_.row(slot), points_.columns()));
    slots_[slot].row = kNobody;
  }

  Matrix<T> points_;
  std::vector<Slot> slots_;
  std::vector<double> direction_;
  std::uint64_t direction_row_ = kNobody, direction_unit_ = 0;
};

BlackBox::BlackBox(const Model& model, std::size_t batch, Run& run)
    : model_(model), run_(run), slots_(0), pool_(thread_count(model.info(), run.threads, batch)) {
  slots_ = slot_count(model.info(), batch, pool_.threads());
  for (std::size_t i = 0; i < pool_.threads(); ++i) {
    if (model.info().scalar == Scalar::float32) {
      workers_.push_back(std::make_unique<TypedWorker<float>>(slots_, model.info().inputs));
    } else {
      workers_.push_back(std::make_unique<TypedWorker<double>>(slots_, model.info().inputs));
    }
  }
}

BlackBox::~BlackBox() = default;

std::size_t BlackBox::batch() const { return slots_ * workers_.size(); }

std::size_t BlackBox::wave() const {
  const std::size_t affordable = kWaveBytes / (sizeof(double) * model_.info().outputs);
  return std::max(batch(), std::min(affordable, kBatchesInWave * batch()));
}

void BlackBox::evaluate(std::span<const PointRequest> requests, MatrixView<double> answers) {
  std::vector<std::uint64_t> starts;  // number of the first point of each request
  std::uint64_t total = 0;
  for (const PointRequest& request : requests) {
    starts.push_back(total);
    total += request.points();
  }
  pool_.run((total + slots_ - 1) / slots_, [&](std::size_t worker, std::size_t batch) {
    if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    const std::uint64_t first = batch * slots_;
    const std::size_t count = std::min<std::uint64_t>(slots_, total - first);
    std::size_t r =
        static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), first) - starts.begin()) - 1;
    const std::size_t first_request = r;
    for (std::size_t slot = 0; slot < count; ++slot) {
      while (first + slot >= starts[r] + requests[r].points()) ++r;
      const PointRequest& request = requests[r];
      std::uint64_t point = first + slot - starts[r];
      if (request.centre && point == 0) {
        workers_[worker]->put_centre(slot, *request.ball);
        continue;
      }
      point -= request.centre ? 1 : 0;
      const std::size_t points = request.ball->shape().points();
      workers_[worker]->put(slot, *request.ball, request.unit(point / points), point % points);
    }
    const MatrixView<double> y = answers.slice(first, count);
    run_.ledger.spend(count);
    model_.evaluate(workers_[worker]->points(count), y);
    r = first_request;
    for (std::size_t slot = 0; slot < count; ++slot) {
      while (first + slot >= starts[r] + requests[r].points()) ++r;
      check(requests[r], first + slot - starts[r], {y.row(slot), y.columns});
    }
  });
}

void BlackBox::check(const PointRequest& request, std::uint64_t point, std::span<const double> answer) const {
  for (std::size_t k = 0; k < answer.size(); ++k) {
    if (std::isfinite(answer[k])) continue;
    const bool centre = request.centre && point == 0;
    throw Error(ErrorCode::model,
                fmt::format("model {} answered {} in output {} for {} row {}; expected finite numbers",
                            model_.info().name, answer[k], k, centre ? "data" : "a point of the ball around",
                            request.ball->row()));
  }
}

}  // namespace harmonia
