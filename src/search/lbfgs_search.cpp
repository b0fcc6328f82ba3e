#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "bounded_descent.hpp"
#include "gradient_loss.hpp"
#include "gradient_space.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kConstants = 14;  // that are tried
constexpr double kFirstConstant = 0.01, kGrowth = 10;
constexpr double kCurvature = 0.5;  // inverse of that of the squared distance

/// L-BFGS on squared distance plus c times the loss, for a c that just suffices; see AttackMethod::lbfgs.
class LbfgsSearch final : public RowSearch, private GradientAsk {
 public:
  LbfgsSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting), row_(row), loss_(setting, row), space_(setting, row, true), x_(row.original) {
    const double given = setting.options.gradient.constant;
    constant_ = given > 0 ? given : kFirstConstant;
    begin();
  }

  std::size_t wanted() const override { return done_ ? 0 : 1; }
  void write(std::size_t, std::span<double> x) const override { std::copy(x_.begin(), x_.end(), x.begin()); }
  GradientAsk* gradient_ask() override { return this; }
  void take(MatrixView<const double>) override {}

 private:
  // From the row itself, for the constant that is now tried.
  void begin() {
    std::vector<double> lower(space_.size()), upper(space_.size());
    for (std::size_t j = 0; j < space_.size(); ++j) {
      if (!space_.moves(j)) continue;
      lower[j] = space_.least(j);
      upper[j] = space_.most(j);
    }
    descent_.emplace(std::vector<double>(space_.size()), std::move(lower), std::move(upper), kCurvature);
    calls_ = 0;
    found_ = false;
    space_.place(descent_->point(), x_);
  }

  void by_outputs(std::span<const double> outputs, std::span<double> out) const override {
    loss_.escape_by(outputs, out);
  }

  void take(std::span<const double> outputs, std::span<const double> gradient) override {
    ++calls_;
    ++taken_;
    const Reading reading = Reading::of(outputs, setting_.model, row_.first_class);
    double squared = 0;
    for (const double by : descent_->point()) squared += by * by;
    const double kappa = setting_.options.gradient.kappa;
    if (loss_.reached(reading.label) && loss_.margin(outputs, kappa) <= -kappa) {
      found_ = true;
      if (const double distance = setting_.moves.distance(row_.original, x_); distance < nearest_) {
        nearest_ = distance;
        enter_nearer(setting_, row_, reading, x_, taken_);
      }
    }
    std::vector<double> by = space_.by_units(gradient);
    if (std::all_of(by.begin(), by.end(), [](double value) { return value == 0; }) && squared == 0) {
      done_ = true;
      enter_none(row_, reading, x_, taken_);
      row_.outcome = AttackOutcome::stuck;
      return;
    }
    for (std::size_t j = 0; j < by.size(); ++j) by[j] = constant_ * by[j] + 2 * descent_->point()[j];
    descent_->take(squared + constant_ * loss_.escape(outputs), by);
    if (!descent_->done() && calls_ < setting_.options.steps) return space_.place(descent_->point(), x_);
    next_constant();
    if (done_ && !row_.success) enter_none(row_, reading, x_, taken_);
  }

  // Ten times as much until a point is found, or a tenth until none is; then the geometric mean of the least
  // constant that sufficed and the largest that did not.
  void next_constant() {
    (found_ ? enough_ : too_little_) = constant_;
    done_ = ++tried_ == kConstants;
    if (done_) return;
    if (enough_ == 0) {
      constant_ *= kGrowth;
    } else if (too_little_ == 0) {
      constant_ /= kGrowth;
    } else {
      constant_ = std::sqrt(enough_ * too_little_);
    }
    begin();
  }

  SearchSetting setting_;
  AttackRow& row_;
  GradientLoss loss_;
  GradientSpace space_;
  std::optional<BoundedDescent> descent_;
  std::vector<double> x_;
  double constant_, enough_ = 0, too_little_ = 0;  // 0: not known yet
  double nearest_ = std::numeric_limits<double>::infinity();
  std::size_t calls_ = 0, taken_ = 0, tried_ = 0;  // of this constant, of all; constants
  bool found_ = false, done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_lbfgs_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<LbfgsSearch>(setting, row);
}

std::uint64_t lbfgs_search_cost(const AttackOptions& options) { return kConstants * options.steps; }

}  // namespace harmonia
