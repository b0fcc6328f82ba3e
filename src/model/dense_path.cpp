#include "dense_path.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "harmonia/model/dense_balls.hpp"

namespace harmonia {
namespace {

bool same_steps(const Feature& a, const Feature& b) { return a.scale == b.scale && a.fixed == b.fixed; }

// What is prepared for one serves the other. Both are taken: nothing but scales and fixed values is in them.
bool same_ball(const Ball& a, const Ball& b) {
  const BallOptions &one = a.options(), &other = b.options();
  return one.kind == other.kind && one.radius == other.radius && one.average == other.average &&
         a.plain() == b.plain() && std::ranges::equal(a.schema(), b.schema(), same_steps);
}

}  // namespace

struct DensePath::Prepared {
  Prepared(const DenseNetwork& network, const Ball& of) : ball(of), balls(network, ball) {}

  Ball ball;
  DenseBalls balls;
};

namespace {

class DenseAsker final : public BallAsker {
 public:
  DenseAsker(std::shared_ptr<const DensePath::Prepared> prepared, std::size_t outputs)
      : prepared_(std::move(prepared)), outputs_(outputs) {}

  void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) override {
    taken_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      answers[i].refused = !prepared_->balls.takes(*rows[i]);
      if (!answers[i].refused) taken_.push_back(rows[i]);
    }
    centres_.resize(taken_.size(), outputs_);
    sums_.resize(taken_.size(), outputs_);
    if (!taken_.empty()) prepared_->balls.sums(taken_, centres_.view(), sums_.view());
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (answers[i].refused) continue;
      answers[i].centre.assign(centres_.row(at), centres_.row(at) + outputs_);
      answers[i].sums.assign(sums_.row(at), sums_.row(at) + outputs_);
      ++at;
    }
  }

 private:
  std::shared_ptr<const DensePath::Prepared> prepared_;
  std::size_t outputs_;
  std::vector<const RowBall*> taken_;
  Matrix<double> centres_, sums_;
};

}  // namespace

DensePath::DensePath(DenseNetwork network) : network_(std::move(network)) {}
DensePath::~DensePath() = default;

std::string DensePath::name() const { return "dense networks"; }

std::unique_ptr<BallAsker> DensePath::open(const Ball& ball) const {
  if (!dense_refused(network_, ball).empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (last_ == nullptr || !same_ball(last_->ball, ball)) last_ = std::make_shared<Prepared>(network_, ball);
  return std::make_unique<DenseAsker>(last_, network_.outputs());
}

}  // namespace harmonia
