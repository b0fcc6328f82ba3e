#include <algorithm>

#include "harmonia/core/random.hpp"
#include "row_search.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kTriesAtOnce = 64;

/// Sets of features at random; see AttackMethod::random.
class RandomSearch final : public RowSearch {
 public:
  RandomSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting), row_(row), steps_(std::min(setting.options.steps, setting.moves.units())) {
    const std::uint64_t calls = setting.options.paper
                                    ? paper_search_cost(setting.options, setting.moves.units())
                                    : gamma_search_cost(setting.options, setting.moves.units());
    // Enough is left to walk the one that is found.
    left_ = calls - (steps_ - 1);
  }

  std::size_t wanted() const override {
    if (done_) return 0;
    return found_ ? steps_ - 1 : std::min<std::uint64_t>(kTriesAtOnce, left_);
  }

  void write(std::size_t i, std::span<double> x) const override {
    std::copy(row_.original.begin(), row_.original.end(), x.begin());
    if (found_) {
      apply(best_, i + 1, x);
    } else {
      apply(first_ + i, steps_, x);
    }
  }

  void take(MatrixView<const double> answers) override {
    const auto read = [&](std::size_t i) {
      return Reading::of({answers.row(i), answers.columns}, setting_.model, row_.first_class);
    };
    if (found_) {
      std::vector<Reading> walk;
      for (std::size_t i = 0; i < answers.rows; ++i) walk.push_back(read(i));
      return enter_walk(std::move(walk));
    }
    for (std::size_t i = 0; i < answers.rows && !found_; ++i) {
      const Reading reading = read(i);
      found_ = reading.label != row_.first_class;
      if (found_ || first_ + i == 0 || reading.value < last_.value) {
        best_ = first_ + i;
        last_ = reading;
      }
    }
    first_ += answers.rows;
    left_ -= answers.rows;
    if (found_ && steps_ == 1) return enter_walk({});
    if (!found_ && left_ == 0) give_up();
  }

 private:
  // The first `steps` moves of a try. A feature that bounds hold goes the other way.
  std::vector<AttackStep> apply(std::uint64_t attempt, std::size_t steps, std::span<double> x) const {
    const DrawKey ways{
        .seed = setting_.seed, .stream = Stream::search_noise, .row = row_.row, .sample = attempt};
    const std::vector<std::size_t> drawn =
        draw_different(setting_.seed, row_.row, attempt, steps_, setting_.moves.units());
    std::vector<AttackStep> moved;
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t unit = setting_.moves.unit(drawn[i]);
      double sign = draw_uniform(ways, i) < 0.5 ? 1 : -1;
      if (!setting_.moves.move(x, unit, sign)) {
        sign = -sign;
        setting_.moves.move(x, unit, sign);
      }
      AttackStep step;
      step.feature = unit;
      step.change = sign;
      moved.push_back(step);
    }
    return moved;
  }

  void enter_walk(std::vector<Reading> walk) {
    done_ = true;
    walk.push_back(last_);
    std::vector<double> x = row_.original;
    const std::vector<AttackStep> moved = apply(best_, steps_, x);
    x = row_.original;
    for (std::size_t i = 0; i < steps_; ++i) {
      setting_.moves.move(x, *moved[i].feature, moved[i].change);
      AttackStep step = moved[i];
      step.label = walk[i].label;
      step.logit = walk[i].value;
      if (enter_step(setting_, row_, step, x)) return;
    }
  }

  // No class but the first: the try of the least value is told of.
  void give_up() {
    done_ = true;
    std::vector<double> x = row_.original;
    apply(best_, steps_, x);
    row_.adversarial = std::move(x);
    row_.steps = steps_;
    row_.new_class = last_.label;
    row_.last_logit = last_.value;
    row_.outcome = AttackOutcome::kept;
  }

  SearchSetting setting_;
  AttackRow& row_;
  std::size_t steps_;
  std::uint64_t left_ = 0;              // tries
  std::uint64_t first_ = 0, best_ = 0;  // numbers of tries
  Reading last_;                        // at the best one
  bool found_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_random_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<RandomSearch>(setting, row);
}

}  // namespace harmonia
