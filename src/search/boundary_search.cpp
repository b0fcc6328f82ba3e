#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonia/core/random.hpp"
#include "row_search.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kSizes = 16, kDraws = 4;  // of the noise that looks for a start
constexpr std::size_t kNoises = kSizes * kDraws, kOthers = 16;
constexpr std::size_t kShortenings = 12;  // of a step that leaves the other class

std::size_t pairs_at(const AttackOptions& options, std::size_t step) {
  return static_cast<std::size_t>(
      std::ceil(static_cast<double>(options.candidates) * std::sqrt(static_cast<double>(step))));
}

// How far from a boundary point its normal is probed, as a share of the distance to the row.
double probe_share(std::size_t inputs) { return std::min(0.1, 1 / std::sqrt(static_cast<double>(inputs))); }

// Bisections after which the boundary is known to a tenth of what a probe moves along the normal.
std::size_t bisections(std::size_t inputs) {
  const auto n = static_cast<double>(inputs);
  return static_cast<std::size_t>(std::ceil(std::log2(10 * std::sqrt(n) / probe_share(inputs))));
}

/// A walk along the boundary; see AttackMethod::boundary.
class BoundarySearch final : public RowSearch {
 public:
  BoundarySearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting),
        row_(row),
        others_(draw_different(setting.seed, row.row, 0, kOthers, setting.others.rows())) {}

  std::size_t wanted() const override {
    switch (phase_) {
      case Phase::start:
        return kNoises + others_.size();
      case Phase::probe:
        return 2 * pairs_at(setting_.options, iteration_);
      case Phase::bisect:
      case Phase::step:
        return 1;
      case Phase::done:
        break;
    }
    return 0;
  }

  void write(std::size_t i, std::span<double> x) const override {
    switch (phase_) {
      case Phase::start:
        return write_start(i, x);
      case Phase::probe: {
        const double size = probe_share(x.size()) * setting_.moves.distance(row_.original, best_);
        return add_noise(best_, probe_sample(i / 2), i % 2 == 0 ? size : -size, false, x);
      }
      case Phase::bisect:
        return between((low_ + high_) / 2, x);
      case Phase::step:
      case Phase::done:
        std::copy(tried_.begin(), tried_.end(), x.begin());
    }
  }

  void take(MatrixView<const double> answers) override {
    std::vector<Reading> readings;
    for (std::size_t i = 0; i < answers.rows; ++i) {
      readings.push_back(Reading::of({answers.row(i), answers.columns}, setting_.model, row_.first_class));
    }
    switch (phase_) {
      case Phase::start:
        return take_start(readings);
      case Phase::bisect:
        return take_bisection(readings[0]);
      case Phase::probe:
        return take_probes(readings);
      case Phase::step:
        return take_step(readings[0]);
      case Phase::done:
        break;
    }
  }

 private:
  enum class Phase { start, bisect, probe, step, done };

  bool other(const Reading& reading) const { return reading.label != row_.first_class; }

  void draw(std::uint64_t sample, std::span<float> direction) const {
    normals({.seed = setting_.seed, .stream = Stream::search_noise, .row = row_.row, .sample = sample},
            direction);
  }

  // Samples of probes come after those of the start.
  std::uint64_t probe_sample(std::size_t pair) const { return kNoises + probed_ + pair; }

  void add_noise(std::span<const double> from, std::uint64_t sample, double size, bool settle,
                 std::span<double> x) const {
    std::vector<float> direction(x.size());
    draw(sample, direction);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double to = from[j] + size * setting_.moves.scale(j) * direction[j];
      x[j] = settle ? setting_.moves.settled(j, from[j], to) : setting_.moves.fixed(j) ? from[j] : to;
    }
  }

  // The point at `t` between the row (0) and what was tried (1).
  void between(double t, std::span<double> x) const {
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double from = row_.original[j];
      x[j] = t == 1 ? tried_[j] : setting_.moves.settled(j, from, from + t * (tried_[j] - from));
    }
  }

  // Noise of growing size, then other rows.
  void write_start(std::size_t i, std::span<double> x) const {
    if (i < kNoises) {
      const double size = std::ldexp(setting_.options.radius, static_cast<int>(i / kDraws));
      return add_noise(row_.original, i, size, true, x);
    }
    const double* const other = setting_.others.row(others_[i - kNoises]);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double from = row_.original[j];
      x[j] = std::isnan(other[j]) ? from : setting_.moves.settled(j, from, other[j]);
    }
  }

  // The nearest of those of another class.
  void take_start(const std::vector<Reading>& readings) {
    double nearest = std::numeric_limits<double>::infinity();
    Reading found;
    std::vector<double> x(row_.original.size());
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (!other(readings[i])) continue;
      write(i, x);
      const double distance = setting_.moves.distance(row_.original, x);
      if (distance >= nearest) continue;
      nearest = distance;
      found = readings[i];
      tried_ = x;
    }
    if (!tried_.empty()) return bisect(found);
    phase_ = Phase::done;
    enter_stuck(row_, row_.original);
  }

  void bisect(const Reading& at_end) {
    phase_ = Phase::bisect;
    low_ = 0;
    high_ = 1;
    left_ = bisections(row_.original.size());
    end_ = at_end;
  }

  void take_bisection(const Reading& reading) {
    const double middle = (low_ + high_) / 2;
    if (other(reading)) {
      high_ = middle;
      end_ = reading;
    } else {
      low_ = middle;
    }
    if (--left_ > 0) return;
    std::vector<double> x(row_.original.size());
    between(high_, x);
    arrive(x, end_);
  }

  // Keeps the point if none was nearer, and goes on from the nearest.
  void arrive(std::span<const double> x, const Reading& reading) {
    const double distance = setting_.moves.distance(row_.original, x);
    if (best_.empty() || distance < setting_.moves.distance(row_.original, best_)) {
      best_.assign(x.begin(), x.end());
      reading_ = reading;
    }
    if (iteration_ > 0) enter();
    if (iteration_ == setting_.options.steps) return finish();
    ++iteration_;
    phase_ = Phase::probe;
  }

  void enter() {
    AttackStep step;
    step.label = reading_.label;
    step.logit = reading_.value;
    step.distortion_l2 = setting_.moves.distance(row_.original, best_);
    row_.path.push_back(step);
  }

  void take_probes(const std::vector<Reading>& readings) {
    normal_.assign(best_.size(), 0);
    std::vector<float> direction(best_.size());
    for (std::size_t p = 0; p < readings.size() / 2; ++p) {
      const double way = (other(readings[2 * p]) ? 1 : 0) - (other(readings[2 * p + 1]) ? 1 : 0);
      if (way == 0) continue;
      draw(probe_sample(p), direction);
      for (std::size_t j = 0; j < normal_.size(); ++j) {
        if (!setting_.moves.fixed(j)) normal_[j] += way * direction[j];
      }
    }
    probed_ += readings.size() / 2;
    double square = 0;
    for (const double v : normal_) square += v * v;
    if (square == 0) return arrive(best_, reading_);
    // Of a mean square of 1, as distances are.
    for (double& v : normal_) v /= std::sqrt(square / static_cast<double>(normal_.size()));
    length_ = setting_.moves.distance(row_.original, best_) / std::sqrt(static_cast<double>(iteration_));
    left_ = kShortenings;
    try_step();
  }

  void try_step() {
    phase_ = Phase::step;
    tried_.resize(best_.size());
    for (std::size_t j = 0; j < best_.size(); ++j) {
      tried_[j] =
          setting_.moves.settled(j, best_[j], best_[j] + length_ * setting_.moves.scale(j) * normal_[j]);
    }
  }

  void take_step(const Reading& reading) {
    if (other(reading)) return bisect(reading);
    if (--left_ == 0) return arrive(best_, reading_);
    length_ /= 2;
    try_step();
  }

  void finish() {
    phase_ = Phase::done;
    row_.adversarial = best_;
    row_.new_class = reading_.label;
    row_.last_logit = reading_.value;
    const double epsilon = setting_.options.epsilon;
    row_.success = epsilon == 0 || setting_.moves.largest(row_.original, best_) <= epsilon;
    // Every step is of another class, so that the first one is the change.
    row_.steps = row_.success ? 1 : setting_.options.steps;
    row_.outcome = row_.success ? AttackOutcome::changed : AttackOutcome::kept;
  }

  SearchSetting setting_;
  AttackRow& row_;
  std::vector<std::size_t> others_;  // rows that it may start from
  Phase phase_ = Phase::start;
  std::vector<double> best_, tried_;  // the nearest point of another class; one that is bisected or asked
  Reading reading_, end_;             // at the nearest point; at the far end of the bisection
  std::vector<double> normal_;
  double low_ = 0, high_ = 1, length_ = 0;
  std::size_t left_ = 0;       // bisections, or shortenings
  std::size_t iteration_ = 0;  // from 1
  std::uint64_t probed_ = 0;   // pairs
};

}  // namespace

std::unique_ptr<RowSearch> make_boundary_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<BoundarySearch>(setting, row);
}

std::uint64_t boundary_search_cost(const AttackOptions& options, std::size_t inputs) {
  std::uint64_t cost = kNoises + kOthers + bisections(inputs);
  for (std::size_t t = 1; t <= options.steps; ++t)
    cost += 2 * pairs_at(options, t) + kShortenings + bisections(inputs);
  return cost;
}

}  // namespace harmonia
