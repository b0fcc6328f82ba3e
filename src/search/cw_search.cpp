#include <algorithm>
#include <cmath>
#include <limits>

#include "gradient_loss.hpp"
#include "gradient_space.hpp"

namespace harmonia {
namespace {

constexpr double kFirstMoment = 0.9, kSecondMoment = 0.999, kSmall = 1e-8;  // of Adam [Kingma 2015]
constexpr double kStandardRate = 0.01, kStandardConstant = 1;
constexpr double kInside = 0.999999;  // of the bounds' half width: tanh never comes to them

/// Adam on squared distance plus a weight times the margin; see AttackMethod::cw. A feature with two finite
/// bounds is the tanh of its variable between them, any other one is its variable within what bound it has.
class CwSearch final : public RowSearch, private GradientAsk {
 public:
  CwSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting),
        row_(row),
        loss_(setting, row),
        space_(setting, row, true),
        variables_(space_.size()),
        change_(space_.size()),
        slopes_(space_.size()),
        first_(space_.size()),
        second_(space_.size()),
        x_(row.original) {
    for (std::size_t j = 0; j < variables_.size(); ++j) {
      if (bent(j)) variables_[j] = std::atanh(-kInside * middle(j) / half(j));
    }
    follow();
  }

  std::size_t wanted() const override { return done_ ? 0 : 1; }
  void write(std::size_t, std::span<double> x) const override { std::copy(x_.begin(), x_.end(), x.begin()); }
  GradientAsk* gradient_ask() override { return this; }
  void take(MatrixView<const double>) override {}

 private:
  double constant() const {
    const double given = setting_.options.gradient.constant;
    return given > 0 ? given : kStandardConstant;
  }
  double half(std::size_t j) const { return (space_.most(j) - space_.least(j)) / 2; }
  double middle(std::size_t j) const { return (space_.most(j) + space_.least(j)) / 2; }
  bool bent(std::size_t j) const { return space_.moves(j) && std::isfinite(half(j)) && half(j) > 0; }

  void by_outputs(std::span<const double> outputs, std::span<double> out) const override {
    loss_.margin_by(outputs, setting_.options.gradient.kappa, out);
  }

  void take(std::span<const double> outputs, std::span<const double> gradient) override {
    ++taken_;
    const Reading reading = Reading::of(outputs, setting_.model, row_.first_class);
    const double margin = loss_.margin(outputs, setting_.options.gradient.kappa);
    const bool leads = margin <= -setting_.options.gradient.kappa;
    if (loss_.reached(reading.label) && leads && setting_.moves.distance(row_.original, x_) < nearest_) {
      nearest_ = setting_.moves.distance(row_.original, x_);
      enter_nearer(setting_, row_, reading, x_, taken_);
    }
    const std::vector<double> by = space_.by_units(gradient);
    const bool flat = !leads && std::all_of(by.begin(), by.end(), [](double value) { return value == 0; });
    done_ = flat || taken_ == setting_.options.steps;
    if (done_ && !row_.success) enter_none(row_, reading, x_, taken_);
    if (flat && !row_.success) row_.outcome = AttackOutcome::stuck;
    if (!done_) descend(by);
  }

  void descend(std::span<const double> by) {
    const double given = setting_.options.gradient.step_size, rate = given > 0 ? given : kStandardRate;
    const auto t = static_cast<double>(taken_);
    const double first_share = 1 - std::pow(kFirstMoment, t), second_share = 1 - std::pow(kSecondMoment, t);
    for (std::size_t j = 0; j < by.size(); ++j) {
      const double g = (2 * change_[j] + constant() * by[j]) * slopes_[j];
      first_[j] = kFirstMoment * first_[j] + (1 - kFirstMoment) * g;
      second_[j] = kSecondMoment * second_[j] + (1 - kSecondMoment) * g * g;
      variables_[j] -= rate * (first_[j] / first_share) / (std::sqrt(second_[j] / second_share) + kSmall);
    }
    follow();
  }

  // The point of the variables, and by how much it changes with each.
  void follow() {
    for (std::size_t j = 0; j < variables_.size(); ++j) {
      if (bent(j)) {
        const double part = std::tanh(variables_[j]);
        change_[j] = middle(j) + half(j) * part;
        slopes_[j] = half(j) * (1 - part * part);
      } else if (space_.moves(j)) {
        variables_[j] = change_[j] = std::clamp(variables_[j], space_.least(j), space_.most(j));
        slopes_[j] = 1;
      }
    }
    space_.place(change_, x_);
  }

  SearchSetting setting_;
  AttackRow& row_;
  GradientLoss loss_;
  GradientSpace space_;
  std::vector<double> variables_;
  std::vector<double> change_, slopes_;  // in units, and by the variables
  std::vector<double> first_, second_;   // moments
  std::vector<double> x_;
  double nearest_ = std::numeric_limits<double>::infinity();
  std::size_t taken_ = 0;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_cw_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<CwSearch>(setting, row);
}

std::uint64_t cw_search_cost(const AttackOptions& options) { return options.steps; }

}  // namespace harmonia
