#include "harmonia/model/black_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "batch_tuner.hpp"
#include "batching.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/wide_memory.hpp"
#include "units_worker.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kWaveBytes = std::size_t{16} << 20;  // of the answers of a wave
constexpr std::size_t kWaveAlone = 1024;      // points, and one batch at least: what the caches hold
constexpr std::size_t kWaveOfThread = 16384;  // of several, so that they seldom wait for each other
constexpr std::size_t kBatchesOfThread = 4;   // of several, so that one which is late costs little
constexpr std::size_t kRowsTogether = 8;      // in a batch at least, if rows are not to be cut
constexpr double kWaveSeconds = 0.5;   // between two signs of progress, if that many points take longer
constexpr std::size_t kNarrowRow = 8;  // features up to which a point is sooner written than looked after

}  // namespace

/// Says which points a model is to make.
template <class T>
class BlackBox::SendingWorker final : public Worker {
 public:
  explicit SendingWorker(const Model& model) : model_(model), inputs_(model.info().inputs) {}

  void write(std::span<const PointRequest> requests, std::uint64_t skip, std::size_t count) override {
    bases_.clear();
    base_.clear();
    first_.assign(1, 0);
    column_.clear();
    value_.clear();
    centre_.clear();
    paired_ = requests.front().ball->shape().paired;
    for (auto request = requests.begin(); base_.size() < count; ++request, skip = 0) {
      const RowBall& ball = *request->ball;
      last_ = {};  // of another row
      const std::uint32_t centre = base_of(ball, {});
      if (request->centre && skip == 0) put(ball, 0, {});
      if (request->centre && skip > 0) --skip;
      const std::size_t points = ball.shape().points();
      std::size_t p = skip % points;
      for (std::uint64_t i = skip / points; i < request->count && base_.size() < count; ++i, p = 0) {
        const std::uint64_t unit = request->unit(i);
        for (; p < points && base_.size() < count; ++p) put(ball, unit, ball.place(unit, p));
      }
      centre_.resize(base_.size(), centre);
    }
  }

  void ask(MatrixView<double> y) override {
    const MatrixView<const T> bases{bases_.data(), bases_.size() / inputs_, inputs_};
    model_.evaluate_made({bases, base_, first_, column_, value_, centre_, paired_}, y);
  }

 private:
  void put(const RowBall& ball, std::uint64_t unit, const RowBall::Place& place) {
    base_.push_back(place.dense ? put_dense(ball, unit, place) : base_of(ball, place));
    if (!place.dense && place.own != RowBall::Place::kNone) replace(place.own, ball.own_coordinate(place));
    if (!place.dense && place.block != RowBall::Place::kNone) {
      ball.blocks().each(place.block, [&](std::size_t j) { replace(j, ball.block_coordinate(place, j)); });
    }
    first_.push_back(column_.size());
  }

  // The same base as one of the last two points, mostly: a point and its mirror image.
  std::uint32_t base_of(const RowBall& ball, const RowBall::Place& place) {
    for (const Base& known : last_) {
      if (known.there && known.base == place.base && (known.radius == place.radius || place.base == 0))
        return known.number;
    }
    std::swap(last_[0], last_[1]);
    last_[0] = {true, place.base, place.radius, new_base()};
    ball.fill(place, std::span<T>(bases_.data() + last_[0].number * inputs_, inputs_));
    return last_[0].number;
  }

  std::uint32_t put_dense(const RowBall& ball, std::uint64_t unit, const RowBall::Place& place) {
    direction_.resize(inputs_);
    ball.direction(unit, direction_);
    const std::uint32_t number = new_base();
    ball.fill_dense(place, direction_, std::span<T>(bases_.data() + number * inputs_, inputs_));
    return number;
  }

  std::uint32_t new_base() {
    const std::size_t number = bases_.size() / inputs_;
    bases_.resize(bases_.size() + inputs_);
    return static_cast<std::uint32_t>(number);
  }

  void replace(std::size_t column, double value) {
    column_.push_back(static_cast<std::uint32_t>(column));
    value_.push_back(static_cast<double>(static_cast<T>(value)));
  }

  struct Base {
    bool there = false;
    double base = 0, radius = 0;
    std::uint32_t number = 0;
  };

  const Model& model_;
  std::size_t inputs_;
  std::vector<T> bases_;
  std::vector<std::uint32_t> base_, column_, centre_;
  bool paired_ = false;
  std::vector<std::size_t> first_;
  std::vector<double> value_, direction_;
  std::array<Base, 2> last_;
};

template <class T>
class BlackBox::TypedWorker final : public Worker {
 public:
  TypedWorker(const Model& model, std::size_t slots)
      : model_(model), inputs_(model.info().inputs), batch_(slots), memory_(model.batch_memory(slots)) {
    if (memory_ == nullptr) set_batch(slots);
  }

  void set_batch(std::size_t points) override {
    if (points <= own_slots_) return;
    own_ = nullptr;  // before there is more
    own_ = wide_memory(points * inputs_ * sizeof(T));
    own_slots_ = points;
    slots_.assign(std::bit_ceil(points), {});
    points_ = static_cast<T*>(own_.get());
  }

  void make_room() override {
    if (!lent()) return;
    if (memory_ == nullptr) memory_ = model_.batch_memory(batch_);
    points_ = static_cast<T*>(memory_.get());
  }

  void write(std::span<const PointRequest> requests, std::uint64_t skip, std::size_t count) override {
    std::size_t slot = 0;
    for (auto request = requests.begin(); slot < count; ++request, skip = 0) {
      const RowBall& ball = *request->ball;
      if (request->centre && skip == 0) put_centre(slot++, ball);
      if (request->centre && skip > 0) --skip;
      const std::size_t points = ball.shape().points(), first = slot;
      if (lent()) before_.resize(points);
      std::size_t p = skip % points;
      for (std::uint64_t i = skip / points; i < request->count; ++i, p = 0) {
        for (; p < points && slot < count; ++p, ++slot) {
          const std::uint64_t unit = request->unit(i);
          const bool follows = lent() && slot - first >= points;
          if (follows && ball.one_feature(unit) && before_[p].own != RowBall::Place::kNone) {
            put_next(slot, ball, unit, before_[p]);
            continue;
          }
          const RowBall::Place place = ball.place(unit, p);
          if (place.dense) {
            put_dense(slot, ball, unit, place);
          } else if (inputs_ <= kNarrowRow) {
            put_narrow(slot, ball, place);
          } else if (lent()) {
            put_after(slot, ball, place, follows ? &before_[p] : nullptr);
            before_[p] = place;
          } else {
            put_place(slot, ball, place);
          }
        }
        if (slot == count) return;
      }
    }
  }

  void ask(MatrixView<double> y) override {
    model_.evaluate(MatrixView<const T>{points_, y.rows, inputs_}, y);
    memory_ = nullptr;
  }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  // The memory is the model's, and nothing is known of what it holds.
  bool lent() const { return slots_.empty(); }

  // What a slot of our own memory holds: a base of a row's ball, with the coordinate `own` or those of a
  // block replaced.
  struct Slot {
    std::uint64_t row = kNobody;
    double radius = 0, base = 0;
    std::size_t own = RowBall::Place::kNone;
    std::uint64_t block = RowBall::Place::kNone;
  };

  Slot& slot_at(std::size_t slot) { return slots_[slot & (slots_.size() - 1)]; }
  T* point(std::size_t slot) const { return points_ + slot * inputs_; }

  void put_centre(std::size_t slot, const RowBall& ball) {
    if (inputs_ <= kNarrowRow) {
      put_narrow(slot, ball, {});
    } else if (lent()) {
      put_after(slot, ball, {}, nullptr);
    } else {
      put_place(slot, ball, {});
    }
  }

  void put_narrow(std::size_t slot, const RowBall& ball, const RowBall::Place& place) const {
    T* const out = point(slot);
    for (std::size_t j = 0; j < inputs_; ++j) out[j] = static_cast<T>(ball.base_coordinate(place, j));
    write_own(out, ball, place);
  }

  // The same point of the unit before, with another feature moved.
  void put_next(std::size_t slot, const RowBall& ball, std::uint64_t unit, RowBall::Place& place) const {
    T* const out = point(slot);
    std::copy_n(out - before_.size() * inputs_, inputs_, out);
    out[place.own] = static_cast<T>(ball.base_coordinate(place, place.own));
    place.own = ball.column(unit);
    out[place.own] = static_cast<T>(ball.own_coordinate(place));
  }

  // A point is mostly the same point of the unit before with one coordinate, or one block, changed.
  void put_after(std::size_t slot, const RowBall& ball, const RowBall::Place& place,
                 const RowBall::Place* before) {
    T* const out = point(slot);
    if (before != nullptr && before->base == place.base) {
      std::copy_n(out - before_.size() * inputs_, inputs_, out);
      if (before->own != RowBall::Place::kNone)
        out[before->own] = static_cast<T>(ball.base_coordinate(place, before->own));
      if (before->block != RowBall::Place::kNone) take_back(out, ball, place, before->block);
    } else {
      ball.fill(place, std::span<T>(out, inputs_));
    }
    write_own(out, ball, place);
  }

  void write_own(T* out, const RowBall& ball, const RowBall::Place& place) const {
    if (place.own != RowBall::Place::kNone) out[place.own] = static_cast<T>(ball.own_coordinate(place));
    if (place.block != RowBall::Place::kNone) {
      ball.blocks().each(place.block,
                         [&](std::size_t j) { out[j] = static_cast<T>(ball.block_coordinate(place, j)); });
    }
  }

  void put_place(std::size_t slot, const RowBall& ball, const RowBall::Place& place) {
    Slot& held = slot_at(slot);
    T* const out = point(slot);
    const auto has_base = [&](const Slot& other) {
      return other.row == ball.row() && other.base == place.base &&
             (other.radius == place.radius || place.base == 0);
    };
    if (!has_base(held)) {
      // The point before, or the one before its mirror image, mostly has the base: copying is less than
      // making it.
      std::size_t back = std::min<std::size_t>(slot, 2);
      while (back > 0 && !has_base(slot_at(slot - back))) --back;
      if (back > 0) {
        std::copy_n(point(slot - back), inputs_, out);
        held.own = slot_at(slot - back).own;
        held.block = slot_at(slot - back).block;
      } else {
        ball.fill(place, std::span<T>(out, inputs_));
        held.own = RowBall::Place::kNone;
        held.block = RowBall::Place::kNone;
      }
    }
    if (held.block != RowBall::Place::kNone && held.block != place.block)
      take_back(out, ball, place, held.block);
    // Undo the one write instead of filling the row again.
    if (held.own != RowBall::Place::kNone)
      out[held.own] = static_cast<T>(ball.base_coordinate(place, held.own));
    write_own(out, ball, place);
    held = {ball.row(), place.radius, place.base, place.own, place.block};
  }

  // Takes a block of another point back to the row's own values.
  void take_back(T* out, const RowBall& ball, const RowBall::Place& place, std::uint64_t block) const {
    ball.blocks().each(block,
                       [&](std::size_t j) { out[j] = static_cast<T>(ball.base_coordinate(place, j)); });
  }

  void put_dense(std::size_t slot, const RowBall& ball, std::uint64_t unit, const RowBall::Place& place) {
    if (direction_row_ != ball.row() || direction_unit_ != unit) {
      direction_.resize(inputs_);
      ball.direction(unit, direction_);
      direction_row_ = ball.row();
      direction_unit_ = unit;
    }
    ball.fill_dense(place, direction_, std::span<T>(point(slot), inputs_));
    if (!lent()) slot_at(slot).row = kNobody;
  }

  const Model& model_;
  std::size_t inputs_, batch_;
  std::shared_ptr<void> memory_;         // the model's, until it is asked
  WideMemory own_{nullptr, &std::free};  // none if the model lends its own
  std::size_t own_slots_ = 0;
  T* points_ = nullptr;
  std::vector<Slot> slots_;             // as many as a power of two; none of memory that is lent
  std::vector<RowBall::Place> before_;  // the points of the unit before, in memory that is lent
  std::vector<double> direction_;
  std::uint64_t direction_row_ = kNobody, direction_unit_ = 0;
};

std::size_t BlackBox::threads_for(const Model& model, std::size_t batch, const Run& run) {
  return thread_count(model.info(), run.threads, batch);
}

BlackBox::BlackBox(const Model& model, std::size_t batch, Run& run)
    : BlackBox(model, batch, run, threads_for(model, batch, run)) {}

BlackBox::BlackBox(const Model& model, std::size_t batch, Run& run, std::size_t threads,
                   const SharedUnits* shared)
    : model_(model),
      run_(run),
      pool_(threads),
      shared_(shared),
      row_starts_(shared == nullptr ? nullptr : std::make_unique<RowStarts>()) {
  // Points that the model makes take none of our memory.
  slots_ = model.makes_points() && batch == 0 ? model.info().preferred_batch
                                              : neighbour_slots(model.info(), batch, pool_.threads());
  wave_ = least_wave();
  // What the user or the model says stays, and so does a batch in memory that is lent.
  if (batch == 0 && model.info().preferred_batch == 0 && model.info().reentrant)
    tuner_ = std::make_unique<BatchTuner>(slots_, most_slots(model.info(), slots_));
  for (std::size_t i = 0; i < pool_.threads(); ++i) {
    workers_.push_back(model.info().scalar == Scalar::float32 ? make_worker<float>() : make_worker<double>());
  }
}

BlackBox::~BlackBox() = default;

template <class T>
std::unique_ptr<BlackBox::Worker> BlackBox::make_worker() const {
  if (shared_ != nullptr) {
    return std::make_unique<UnitsWorker<T>>(
        *shared_, *row_starts_, [this] { return std::make_unique<TypedWorker<T>>(model_, slots_); });
  }
  if (model_.makes_points()) return std::make_unique<SendingWorker<T>>(model_);
  return std::make_unique<TypedWorker<T>>(model_, slots_);
}

std::size_t BlackBox::batch() const { return slots_ * pool_.threads(); }

std::size_t BlackBox::least_wave() const {
  if (pool_.threads() == 1) return batch();
  const std::size_t affordable = kWaveBytes / (sizeof(double) * model_.info().outputs);
  return std::max(batch(), std::min(kBatchesOfThread * batch(), affordable));
}

std::uint64_t BlackBox::batch_size(std::uint64_t total, std::size_t unit) const {
  // Whole units, so that a slot keeps its base from batch to batch.
  const std::uint64_t most = slots_ > unit ? slots_ - slots_ % unit : slots_;
  // Equal shares, so that no thread waits for the last one.
  const std::uint64_t rounds = divide_up(total, most * workers_.size());
  return std::min(most, divide_up(divide_up(total, rounds * workers_.size()), unit) * unit);
}

void BlackBox::evaluate(std::span<const PointRequest> requests, MatrixView<double> answers,
                        const std::function<void()>& beside) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::uint64_t>& starts = starts_;
  starts.clear();
  std::uint64_t total = 0;
  for (const PointRequest& request : requests) {
    starts.push_back(total);
    total += request.points();
  }
  if (total == 0) {
    if (beside) beside();
    return;
  }
  if (tuner_ != nullptr) use_tuned();
  find_starts(requests);
  const std::uint64_t size = batch_size(total, requests.front().ball->shape().points());
  const auto request_of = [&](std::uint64_t point) {
    return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), point) - starts.begin()) -
           1;
  };
  // A model that makes points may do better with a unit's points together, and with a row's if these are few.
  const auto start_of = [&](std::uint64_t batch) {
    const std::uint64_t first = std::min(batch * size, total);
    if (!model_.makes_points() || first == total) return first;
    const std::size_t r = request_of(first);
    const std::uint64_t at = first - starts[r], all = requests[r].points();
    if (at == 0) return first;
    if (all <= size / kRowsTogether) return starts[r] + all;
    const std::uint64_t centre = requests[r].centre ? 1 : 0, points = requests[r].ball->shape().points();
    return starts[r] + centre + divide_up(at - centre, points) * points;
  };
  const std::size_t others = beside ? 1 : 0;
  pool_.run(others + divide_up(total, size), [&](std::size_t worker, std::size_t task) {
    if (task < others) {
      beside();
      return;
    }
    if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    const std::size_t batch = task - others;
    const std::uint64_t first = start_of(batch);
    const std::size_t count = start_of(batch + 1) - first;
    if (count == 0) return;
    const std::size_t r = request_of(first);
    const MatrixView<double> y = answers.slice(first, count);
    run_.ledger.spend(count);
    workers_[worker]->make_room();
    workers_[worker]->write(requests.subspan(r), first - starts[r], count);
    workers_[worker]->ask(y);
    check(requests.subspan(r), first - starts[r], y);
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  pace(total, taken.count());
  // A wave of so few batches that threads wait for each other tells nothing of their size.
  if (tuner_ != nullptr && 2 * size > slots_ && total >= 2 * size * workers_.size()) {
    const double seconds = taken.count() / static_cast<double>(total);
    tuner_->took(seconds, seconds * static_cast<double>(size * workers_.size()));
  }
}

void BlackBox::find_starts(std::span<const PointRequest> requests) {
  if (row_starts_ != nullptr) row_starts_->find(requests, *shared_, pool_);
}

void BlackBox::use_tuned() {
  slots_ = tuner_->size();
  wave_ = std::max(wave_, least_wave());
  for (const auto& worker : workers_) worker->set_batch(slots_);
}

void BlackBox::make_room() { workers_.front()->make_room(); }

void BlackBox::write(std::span<const PointRequest> requests) {
  std::uint64_t total = 0;
  for (const PointRequest& request : requests) total += request.points();
  find_starts(requests);
  workers_.front()->write(requests, 0, total);
}

void BlackBox::ask(std::span<const PointRequest> requests, MatrixView<double> answers) {
  if (run_.stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
  run_.ledger.spend(answers.rows);
  workers_.front()->ask(answers);
  check(requests, 0, answers);
}

void BlackBox::pace(std::uint64_t points, double seconds) {
  const std::size_t affordable = kWaveBytes / (sizeof(double) * model_.info().outputs);
  const std::size_t threads = workers_.size();
  const std::size_t alone =
      std::max(kWaveAlone, kBatchesOfThread * slots_);  // several batches, to compare sizes
  const std::size_t most =
      std::max(least_wave(), std::min(affordable, threads > 1 ? kWaveOfThread * threads : alone));
  if (seconds < kWaveSeconds / 4 && 2 * points > wave_) wave_ = std::min(4 * wave_, most);
  if (seconds > kWaveSeconds) wave_ = std::max(wave_ / 2, least_wave());
}

void BlackBox::check(std::span<const PointRequest> requests, std::uint64_t skip,
                     MatrixView<const double> y) const {
  const double* const end = y.data + y.rows * y.columns;
  bool finite = true;  // a loop without a way out, which runs in vectors
  for (const double* answer = y.data; answer != end; ++answer) finite &= std::isfinite(*answer);
  if (finite) return;
  const double* const wrong = std::find_if(y.data, end, [](double answer) { return !std::isfinite(answer); });
  const auto at = static_cast<std::size_t>(wrong - y.data);
  std::uint64_t point = skip + at / y.columns;
  auto request = requests.begin();
  for (; point >= request->points(); ++request) point -= request->points();
  throw Error(ErrorCode::model,
              fmt::format("model {} answered {} in output {} for {} row {}; expected finite numbers",
                          model_.info().name, *wrong, at % y.columns,
                          request->centre && point == 0 ? "data" : "a point of the ball around",
                          request->ball->row()));
}

}  // namespace harmonia
