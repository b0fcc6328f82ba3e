#include <algorithm>
#include <cmath>
#include <utility>

#include "harmonia/core/random.hpp"
#include "row_search.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kFinalists = 4, kWinners = 2;

std::size_t pairs_of(const AttackOptions& options) {
  return std::max<std::size_t>(1, options.candidates / kFinalists);
}

/// A feature moved one way from where the search is.
struct Candidate {
  std::size_t unit = 0;
  double sign = 1;
  Reading reading;
  double gamma = 0;
};

// Features whose two points are asked in a step: all that the calls pay for if none is spent on gamma.
std::size_t tried_of(const AttackOptions& options) {
  const std::size_t more =
      options.method == AttackMethod::greedy ? (kFinalists + kWinners) * pairs_of(options) : 0;
  return options.candidates + more;
}

/// One feature a step; see AttackMethod::gamma and greedy.
class GammaSearch final : public RowSearch {
 public:
  GammaSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting),
        row_(row),
        x_(row.original),
        used_(setting.moves.all_units()),
        measured_(setting.moves.all_units()) {
    plan_step();
  }

  std::size_t wanted() const override {
    if (done_) return 0;
    return phase_ == Phase::candidates ? candidates_.size() : candidates_.size() * pairs_.size() * 2;
  }

  void write(std::size_t i, std::span<double> x) const override {
    std::copy(x_.begin(), x_.end(), x.begin());
    const std::size_t each = phase_ == Phase::candidates ? 1 : pairs_.size() * 2;
    const Candidate& candidate = candidates_[i / each];
    setting_.moves.move(x, candidate.unit, candidate.sign);
    if (phase_ != Phase::candidates) setting_.moves.displace(x, pair_unit(i), pair_sign(i));
  }

  void take(MatrixView<const double> answers) override {
    if (phase_ == Phase::candidates) {
      take_candidates(answers);
    } else {
      take_pairs(answers);
    }
  }

 private:
  enum class Phase { candidates, finalists, winners };

  std::size_t pair_unit(std::size_t i) const { return pairs_[i / 2 % pairs_.size()]; }
  static double pair_sign(std::size_t i) { return i % 2 == 0 ? 1 : -1; }

  Reading read(MatrixView<const double> answers, std::size_t i) const {
    return Reading::of({answers.row(i), answers.columns}, setting_.model, row_.first_class);
  }

  // Units that are not taken: drawn by the search's own count of draws.
  std::vector<std::size_t> draw_units(std::size_t count, const std::vector<bool>& taken) {
    const Moves& moves = setting_.moves;
    DifferentNumbers numbers(setting_.seed, row_.row, draws_++, moves.units());
    std::vector<std::size_t> units;
    while (units.size() < count) {
      const std::optional<std::size_t> i = numbers.next();
      if (!i) break;
      if (const std::size_t unit = moves.unit(*i); !taken[unit]) units.push_back(unit);
    }
    return units;
  }

  void plan_step() {
    phase_ = Phase::candidates;
    candidates_.clear();
    std::vector<double> moved = x_;
    for (const std::size_t unit : draw_units(tried_of(setting_.options), used_)) {
      for (const double sign : {1.0, -1.0}) {
        moved = x_;
        if (setting_.moves.move(moved, unit, sign))
          candidates_.push_back({.unit = unit, .sign = sign, .reading = {}});
      }
    }
    if (!candidates_.empty()) return;
    done_ = true;
    enter_stuck(row_, x_);
  }

  void take_candidates(MatrixView<const double> answers) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i].reading = read(answers, i);
    const auto by_value = [](const Candidate& a, const Candidate& b) {
      return a.reading.value < b.reading.value;
    };
    if (!row_.success) {
      const Candidate* found = nullptr;
      for (const Candidate& candidate : candidates_) {
        if (candidate.reading.label != row_.first_class && (found == nullptr || by_value(candidate, *found)))
          found = &candidate;
      }
      if (found != nullptr) return go(*found);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), by_value);
    if (setting_.options.method == AttackMethod::greedy) return go(candidates_.front());
    std::vector<Candidate> finalists;
    for (const Candidate& candidate : candidates_) {
      const bool twin = std::any_of(finalists.begin(), finalists.end(),
                                    [&](const Candidate& other) { return other.unit == candidate.unit; });
      if (!twin && finalists.size() < kFinalists) finalists.push_back(candidate);
    }
    measure(Phase::finalists, std::move(finalists));
  }

  // Asks for gamma at the candidates, on pairs of fresh features.
  void measure(Phase phase, std::vector<Candidate> candidates) {
    phase_ = phase;
    candidates_ = std::move(candidates);
    if (phase == Phase::finalists) measured_ = used_;
    for (const Candidate& candidate : candidates_) measured_[candidate.unit] = true;
    pairs_ = draw_units(pairs_of(setting_.options), measured_);
    for (const std::size_t unit : pairs_) measured_[unit] = true;
    // No feature is left to measure with: the least value decides.
    if (pairs_.empty()) go(candidates_.front());
  }

  void take_pairs(MatrixView<const double> answers) {
    const std::size_t each = pairs_.size() * 2;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      Candidate& candidate = candidates_[c];
      double sum = 0;
      for (std::size_t p = 0; p < each; p += 2) {
        const Reading up = read(answers, c * each + p), down = read(answers, c * each + p + 1);
        sum += (up.value - candidate.reading.value) + (down.value - candidate.reading.value);
        for (const auto& [reading, sign] : {std::pair(up, 1.0), std::pair(down, -1.0)}) {
          if (go_twice(candidate, pairs_[p / 2], sign, reading)) return;
        }
      }
      candidate.gamma = std::abs(sum / static_cast<double>(each));
    }
    // Of equal gammas the least value comes first.
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.gamma > b.gamma; });
    if (phase_ == Phase::winners || candidates_.size() == 1) return go(candidates_.front());
    candidates_.resize(std::min(kWinners, candidates_.size()));
    measure(Phase::winners, {candidates_.begin(), candidates_.end()});
  }

  // A point of another class next to a candidate: two steps at once, if it lies within the bounds.
  bool go_twice(const Candidate& first, std::size_t unit, double sign, const Reading& reading) {
    if (row_.success || reading.label == row_.first_class) return false;
    if (row_.path.size() + 2 > setting_.options.steps) return false;
    std::vector<double> x = x_;
    setting_.moves.move(x, first.unit, first.sign);
    setting_.moves.displace(x, unit, sign);
    if (!setting_.moves.inside(x, unit)) return false;
    const Candidate one = first;
    if (!step(one)) go({.unit = unit, .sign = sign, .reading = reading});
    return true;
  }

  // Takes the step; whether that was the last one.
  bool step(const Candidate& candidate) {
    setting_.moves.move(x_, candidate.unit, candidate.sign);
    used_[candidate.unit] = true;
    done_ = enter_step(setting_, row_,
                       {.feature = candidate.unit,
                        .change = candidate.sign,
                        .label = candidate.reading.label,
                        .logit = candidate.reading.value},
                       x_);
    return done_;
  }

  void go(const Candidate& candidate) {
    if (!step(Candidate(candidate))) plan_step();
  }

  SearchSetting setting_;
  AttackRow& row_;
  std::vector<double> x_;
  Phase phase_ = Phase::candidates;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> pairs_;     // features whose pairs gamma is measured on
  std::vector<bool> used_, measured_;  // of each feature: it was moved; … or measured on in this step
  std::uint64_t draws_ = 0;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_gamma_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<GammaSearch>(setting, row);
}

std::uint64_t gamma_search_cost(const AttackOptions& options, std::size_t units) {
  // No feature is moved twice, nor measured with where it was moved.
  const std::uint64_t steps = std::min(options.steps, units), tried = std::min(options.candidates, units);
  const std::uint64_t measured = kFinalists + kWinners;
  return steps * (2 * tried + 2 * measured * std::min(pairs_of(options), units));
}

}  // namespace harmonia
