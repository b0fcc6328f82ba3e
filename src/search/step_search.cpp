#include <algorithm>
#include <cmath>

#include "gradient_loss.hpp"
#include "gradient_space.hpp"
#include "harmonia/core/random.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kStart = 0, kLength = 1;  // samples of the draws of a start

constexpr double kPlainStep = 0.1;  // times the gradient, at most unless it is given

enum class Start { row, signs, ball };

/// What tells the methods apart that step by a gradient.
struct StepSettings {
  Start start = Start::row;
  std::size_t steps = 1;
  double step_size = 0;   // in units
  double epsilon = 0;     // of the ball; 0: none
  bool momentum = false;  // steps follow the gradients' decaying sum
  bool plain = false;     // steps are as long as the gradient is, times the step size
  bool l2 = false;        // along the gradient, within an l2 ball
  double penalty = 0;     // of the squared distance
};

StepSettings settings_of(const AttackOptions& options) {
  const GradientOptions& g = options.gradient;
  StepSettings s{.steps = options.steps, .epsilon = options.epsilon, .l2 = g.norm == AttackNorm::l2};
  s.step_size = g.step_size > 0 ? g.step_size : options.epsilon / (s.l2 ? 5 : 4);
  switch (options.method) {
    case AttackMethod::fgsm:
      s.steps = 1;
      s.step_size = options.epsilon;
      break;
    case AttackMethod::rfgsm:
      s.start = Start::signs;
      break;
    case AttackMethod::mifgsm:
      s.momentum = true;
      break;
    case AttackMethod::pgd:
      if (g.random_start) s.start = Start::ball;
      break;
    case AttackMethod::pgd_penalty:
      s.plain = true;
      s.epsilon = 0;
      s.penalty = g.penalty;
      if (!(g.step_size > 0)) s.step_size = std::min(kPlainStep, 1 / (4 * g.penalty));
      break;
    default:
      break;
  }
  return s;
}

double length(std::span<const double> v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

bool all_zero(std::span<const double> v) {
  return std::all_of(v.begin(), v.end(), [](double value) { return value == 0; });
}

/// Steps by the gradient of the loss: fgsm, rfgsm, bim, mifgsm, pgd, pgd-penalty. A point is asked for its
/// class and its gradient at once; the last one for its class alone.
class StepSearch final : public RowSearch, private GradientAsk {
 public:
  StepSearch(const SearchSetting& setting, AttackRow& row)
      : setting_(setting),
        row_(row),
        settings_(settings_of(setting.options)),
        loss_(setting, row),
        space_(setting, row, setting.options.method == AttackMethod::pgd_penalty),
        change_(row.original.size()),
        sum_(settings_.momentum ? row.original.size() : 0),
        x_(row.original) {
    start();
  }

  std::size_t wanted() const override { return done_ ? 0 : 1; }
  void write(std::size_t, std::span<double> x) const override { std::copy(x_.begin(), x_.end(), x.begin()); }
  GradientAsk* gradient_ask() override { return taken_ == settings_.steps ? nullptr : this; }
  void take(MatrixView<const double> answers) override { enter({answers.row(0), answers.columns}); }

 private:
  void by_outputs(std::span<const double> outputs, std::span<double> out) const override {
    loss_.ascent_by(outputs, out);
  }

  void take(std::span<const double> outputs, std::span<const double> gradient) override {
    if (taken_ > 0) enter(outputs);
    if (done_) return;
    std::vector<double> direction = space_.by_units(gradient);
    for (std::size_t j = 0; j < direction.size(); ++j) direction[j] -= 2 * settings_.penalty * change_[j];
    if (all_zero(direction)) {
      done_ = true;
      return enter_stuck(row_, taken_ > 0 ? x_ : row_.original);
    }
    if (settings_.momentum) add_momentum(direction);
    if (!settings_.plain) shape(direction);
    for (std::size_t j = 0; j < direction.size(); ++j) change_[j] += settings_.step_size * direction[j];
    confine();
    ++taken_;
  }

  void enter(std::span<const double> outputs) {
    const Reading reading = Reading::of(outputs, setting_.model, row_.first_class);
    done_ = enter_step(setting_, row_,
                       {.feature = {}, .change = 0, .label = reading.label, .logit = reading.value}, x_) ||
            row_.path.size() == settings_.steps;
  }

  void add_momentum(std::span<double> direction) {
    double size = 0;
    for (const double value : direction) size += std::abs(value);
    size /= static_cast<double>(direction.size());
    for (std::size_t j = 0; j < direction.size(); ++j) {
      direction[j] = direction[j] / size + setting_.options.gradient.decay * sum_[j];
      sum_[j] = direction[j];
    }
  }

  // The direction's signs, or the direction of length 1.
  void shape(std::span<double> direction) const {
    const double all = length(direction);
    for (double& value : direction) {
      if (settings_.l2) {
        value = all > 0 ? value / all : 0;
      } else if (value != 0) {
        value = std::copysign(1.0, value);
      }
    }
  }

  // Back into the ball and the bounds.
  void confine() {
    const double all = length(change_);
    const double shorter =
        settings_.l2 && settings_.epsilon > 0 && all > settings_.epsilon ? settings_.epsilon / all : 1.0;
    for (std::size_t j = 0; j < change_.size(); ++j) {
      if (!space_.moves(j)) continue;
      change_[j] *= shorter;
      if (!settings_.l2 && settings_.epsilon > 0)
        change_[j] = std::clamp(change_[j], -settings_.epsilon, settings_.epsilon);
      change_[j] = std::clamp(change_[j], space_.least(j), space_.most(j));
    }
    space_.place(change_, x_);
  }

  void start() {
    if (settings_.start == Start::row) return;
    const bool signs = settings_.start == Start::signs;
    const DrawKey key{
        .seed = setting_.seed, .stream = Stream::search_noise, .row = row_.row, .sample = kStart};
    if (settings_.l2) {
      std::vector<float> drawn(change_.size());
      normals(key, drawn);
      std::copy(drawn.begin(), drawn.end(), change_.begin());
    } else if (signs) {
      std::fill(change_.begin(), change_.end(), settings_.step_size);
      random_signs(key, change_);
    } else {
      for (std::size_t j = 0; j < change_.size(); ++j)
        change_[j] = settings_.epsilon * (2 * draw_uniform(key, j) - 1);
    }
    for (std::size_t j = 0; j < change_.size(); ++j) {
      if (!space_.moves(j)) change_[j] = 0;
    }
    if (settings_.l2) stretch(signs);
    confine();
  }

  // A start of l2: of the length of a step, or of a length up to epsilon that is drawn.
  void stretch(bool signs) {
    const double drawn = draw_uniform(
        {.seed = setting_.seed, .stream = Stream::search_noise, .row = row_.row, .sample = kLength}, 0);
    const double wanted = signs ? settings_.step_size : drawn * settings_.epsilon, all = length(change_);
    for (double& value : change_) value = all > 0 ? value * wanted / all : 0;
  }

  SearchSetting setting_;
  AttackRow& row_;
  StepSettings settings_;
  GradientLoss loss_;
  GradientSpace space_;
  std::vector<double> change_;  // of every feature, in units
  std::vector<double> sum_;     // of gradients
  std::vector<double> x_;       // the row changed so
  std::size_t taken_ = 0;       // steps
  bool done_ = false;
};

}  // namespace

std::unique_ptr<RowSearch> make_step_search(const SearchSetting& setting, AttackRow& row) {
  return std::make_unique<StepSearch>(setting, row);
}

std::uint64_t step_search_cost(const AttackOptions& options) { return settings_of(options).steps + 1; }

}  // namespace harmonia
