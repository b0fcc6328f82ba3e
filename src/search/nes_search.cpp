#include <algorithm>
#include <cmath>

#include "harmonia/core/random.hpp"
#include "row_search.hpp"

namespace harmonia {
namespace {

/// Steps by the sign of an estimated gradient; see AttackMethod::nes.
class NesSearch final : public RowSearch {
 public:
  NesSearch(const SearchSetting& setting, AttackRow& row) : setting_(setting), row_(row), x_(row.original) {}

  std::size_t wanted() const override {
    if (done_) return 0;
    return moved_ ? 1 : 2 * setting_.options.candidates;
  }

  void write(std::size_t i, std::span<double> x) const override {
    std::copy(x_.begin(), x_.end(), x.begin());
    if (moved_) return;
    std::vector<float> direction(x.size());
    draw(i / 2, direction);
    const double length = i % 2 == 0 ? setting_.options.radius : -setting_.options.radius;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (!setting_.moves.fixed(j)) x[j] += length * setting_.moves.scale(j) * direction[j];
    }
  }

  void take(MatrixView<const double> answers) override {
    const auto read = [&](std::size_t i) {
      return Reading::of({answers.row(i), answers.columns}, setting_.model, row_.first_class);
    };
    if (moved_) {
      moved_ = false;
      const Reading reading = read(0);
      done_ = enter_step(setting_, row_,
                         {.feature = {}, .change = 0, .label = reading.label, .logit = reading.value}, x_);
      return;
    }
    std::vector<double> gradient(x_.size());
    std::vector<float> direction(x_.size());
    for (std::size_t p = 0; p < setting_.options.candidates; ++p) {
      const double rise = read(2 * p).margin - read(2 * p + 1).margin;
      if (rise == 0) continue;
      draw(p, direction);
      for (std::size_t j = 0; j < x_.size(); ++j) gradient[j] += rise * direction[j];
    }
    if (!descend(gradient)) {
      done_ = true;
      enter_stuck(row_, x_);
    }
  }

 private:
  void draw(std::size_t pair, std::span<float> direction) const {
    normals({.seed = setting_.seed,
             .stream = Stream::search_noise,
             .row = row_.row,
             .sample = row_.path.size() * setting_.options.candidates + pair},
            direction);
  }

  bool descend(std::span<const double> gradient) {
    const double epsilon = setting_.options.epsilon;
    for (std::size_t j = 0; j < x_.size(); ++j) {
      if (gradient[j] == 0) continue;
      const double from = row_.original[j];
      double farthest = epsilon * setting_.moves.scale(j);
      if (setting_.moves.whole(j)) farthest = std::floor(farthest);
      double to = x_[j] - std::copysign(setting_.moves.step(j, 1), gradient[j]);
      if (epsilon > 0) to = std::clamp(to, from - farthest, from + farthest);
      to = setting_.moves.settled(j, x_[j], to);
      moved_ |= to != x_[j] && !std::isnan(to);
      x_[j] = to;
    }
    return moved_;
  }

  SearchSetting setting_;
  AttackRow& row_;
  std::vector<double> x_;
  bool moved_ = false;  // x is to be asked for its class
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_nes_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<NesSearch>(setting, row);
}

std::uint64_t nes_search_cost(const AttackOptions& options) {
  return options.steps * (2 * options.candidates + 1);
}

}  // namespace harmonia
