#include <algorithm>
#include <cmath>

#include "row_search.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kWholeBall = 1000;  // points of a ball up to which none is left out
constexpr std::size_t kPointsAtOnce = 4096;

std::size_t ball_points(const AttackOptions& options, std::size_t units) {
  return 2 * units <= kWholeBall ? 2 * units : std::min(options.candidates, 2 * units);
}

/// A point of a ball: a feature and the way it moved.
struct BallPoint {
  std::size_t unit = 0;
  double sign = 1;
  Reading reading;
  double gamma = 0;
};

/// Algorithm 2 of [Kersting 2024]; see AttackOptions::paper.
class PaperSearch final : public RowSearch {
 public:
  PaperSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting),
        row_(row),
        x_(row.original),
        size_(ball_points(setting.options, setting.moves.units())) {
    plan_step();
  }

  std::size_t wanted() const override {
    if (done_) return 0;
    return measuring_ ? group_ * size_ : points_.size();
  }

  void write(std::size_t i, std::span<double> x) const override {
    std::copy(x_.begin(), x_.end(), x.begin());
    const BallPoint& point = points_[measuring_ ? measured_ + i / size_ : i];
    setting_.moves.move(x, point.unit, point.sign);
    if (!measuring_) return;
    const BallPoint& around = balls_[i];
    setting_.moves.displace(x, around.unit, around.sign);
  }

  void take(MatrixView<const double> answers) override {
    const auto read = [&](std::size_t i) {
      return Reading::of({answers.row(i), answers.columns}, setting_.model, row_.first_class);
    };
    if (!measuring_) {
      for (std::size_t i = 0; i < points_.size(); ++i) points_[i].reading = read(i);
      measuring_ = true;
      return plan_group();
    }
    for (std::size_t g = 0; g < group_; ++g) {
      BallPoint& point = points_[measured_ + g];
      double sum = 0;
      for (std::size_t i = 0; i < size_; ++i) sum += read(g * size_ + i).value - point.reading.value;
      point.gamma = std::abs(sum / static_cast<double>(size_));
    }
    measured_ += group_;
    if (measured_ < points_.size()) return plan_group();
    step();
  }

 private:
  std::vector<BallPoint> draw_ball() {
    const std::size_t units = setting_.moves.units();
    std::vector<BallPoint> ball;
    for (const std::size_t i : draw_different(setting_.seed, row_.row, draws_++, size_, 2 * units))
      ball.push_back({.unit = setting_.moves.unit(i / 2), .sign = i % 2 == 0 ? 1.0 : -1.0, .reading = {}});
    return ball;
  }

  void plan_step() {
    points_ = draw_ball();
    measuring_ = false;
    measured_ = 0;
  }

  // Balls of so many points that their answers are not too many.
  void plan_group() {
    group_ = std::min(points_.size() - measured_, std::max<std::size_t>(1, kPointsAtOnce / size_));
    balls_.clear();
    for (std::size_t g = 0; g < group_; ++g) {
      const std::vector<BallPoint> ball = draw_ball();
      balls_.insert(balls_.end(), ball.begin(), ball.end());
    }
  }

  void step() {
    const BallPoint best =
        *std::max_element(points_.begin(), points_.end(),
                          [](const BallPoint& a, const BallPoint& b) { return a.gamma < b.gamma; });
    setting_.moves.move(x_, best.unit, best.sign);
    done_ = enter_step(
        setting_, row_,
        {.feature = best.unit, .change = best.sign, .label = best.reading.label, .logit = best.reading.value},
        x_);
    if (!done_) plan_step();
  }

  SearchSetting setting_;
  AttackRow& row_;
  std::vector<double> x_;
  std::size_t size_;
  std::vector<BallPoint> points_;  // of the ball around x
  std::vector<BallPoint> balls_;   // of the balls around `group` of these, from `measured` on
  std::size_t measured_ = 0, group_ = 0;
  std::uint64_t draws_ = 0;
  bool measuring_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_paper_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<PaperSearch>(setting, row);
}

std::uint64_t paper_search_cost(const AttackOptions& options, std::size_t units) {
  const std::uint64_t ball = ball_points(options, units);
  return options.steps * (ball + ball * ball);
}

}  // namespace harmonia
