#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "harmonia/model/function_model.hpp"
#include "support/gradient_attacks.hpp"

namespace harmonia {
namespace {

using test::attacked;
using test::attacked_zero;
using test::by;
using test::distance;
using test::kL1;
using test::kL2;
using test::kMargin;
using test::kSteppers;
using test::kWeights;
using test::Method;
using test::plane;

TEST(GradientAttack, FgsmStepsAgainstEveryWeight) {
  const AttackRow row = attacked_zero(plane(), by(Method::fgsm, 0.125));
  EXPECT_EQ(row.adversarial, (std::vector<double>{-0.125, 0.125, -0.125, 0.125}));
  EXPECT_EQ(row.outcome, AttackOutcome::changed);
  EXPECT_EQ(row.evaluations, 3U);  // the row, its gradient, the point
  EXPECT_EQ(row.steps, 1U);
  EXPECT_DOUBLE_EQ(row.distortion_l2, 0.125);
  EXPECT_DOUBLE_EQ(row.distortion_linf, 0.125);
  EXPECT_DOUBLE_EQ(row.first_logit, 1);
  EXPECT_DOUBLE_EQ(row.last_logit, 1 - 0.125 * kL1);
}

// The margin of a linear classifier falls by epsilon times the norm of the weights that is dual to the
// ball's.
TEST(GradientAttack, ALinearMarginFallsJustWhenTheBallReachesIt) {
  for (const Method method : kSteppers) {
    for (const auto& [norm, dual] : {std::pair(AttackNorm::linf, kL1), std::pair(AttackNorm::l2, kL2)}) {
      AttackOptions options = by(method);
      options.gradient.norm = norm;
      options.steps = 40;
      for (const double share : {0.99, 1.01}) {
        options.epsilon = share * kMargin / dual;
        const AttackRow row = attacked_zero(plane(), options);
        EXPECT_EQ(row.success, share > 1) << attack_method_name(method) << " " << dual;
        EXPECT_EQ(row.outcome, share > 1 ? AttackOutcome::changed : AttackOutcome::kept);
        // All of the ball was used, whichever the start.
        if (share > 1) continue;
        EXPECT_NEAR(row.last_logit, 1 - options.epsilon * dual, norm == AttackNorm::l2 ? 1e-5 : 1e-12)
            << attack_method_name(method);
        EXPECT_LE(norm == AttackNorm::l2 ? distance(row) : row.distortion_linf,
                  options.epsilon * (1 + 1e-12));
      }
    }
  }
}

TEST(GradientAttack, BimTakesStepsUntilTheMarginIsGone) {
  AttackOptions options = by(Method::bim, 1);
  options.gradient.step_size = 1.0 / 32;
  const AttackRow row = attacked_zero(plane(), options);
  EXPECT_EQ(row.steps, 4U);  // 3 steps of 8.5 / 32 leave a margin, 4 none
  EXPECT_EQ(row.evaluations, 6U);
  EXPECT_EQ(row.adversarial, (std::vector<double>{-0.125, 0.125, -0.125, 0.125}));
  options.go_on = true;
  EXPECT_DOUBLE_EQ(attacked_zero(plane(), options).distortion_linf, 10.0 / 32);
}

TEST(GradientAttack, ALongL2WalkEndsAtTheNearestPointOfThePlane) {
  AttackOptions options = by(Method::pgd, 1);
  options.gradient.norm = AttackNorm::l2;
  options.gradient.random_start = false;
  options.gradient.step_size = 1e-3;
  options.steps = 1000;
  EXPECT_NEAR(distance(attacked_zero(plane(), options)), kMargin / kL2, 1e-3);
}

// The first class leads by 30 − 2 x0² − x1: the loss climbs along (4 x0, 1), times what the mean size takes
// out.
TEST(GradientAttack, MomentumIsAsByHand) {
  class Curved final : public Model, public Differentiable {
   public:
    Curved() {
      info_.name = "curved";
      info_.inputs = info_.outputs = 2;
    }
    const ModelInfo& info() const override { return info_; }
    const Differentiable* differentiable() const override { return this; }
    void evaluate(RowsView x, MutableRowsView y) const override {
      for (std::size_t i = 0; i < x.rows(); ++i) {
        const double* row = x.as<double>().row(i);
        y.row(i)[0] = 30 - 2 * row[0] * row[0] - row[1];
        y.row(i)[1] = 0;
      }
    }
    void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                  MutableRowsView gradients) const override {
      evaluate(x, y);
      for (std::size_t i = 0; i < x.rows(); ++i) {
        std::array<double, 2> by{};
        by_outputs(i, {y.row(i), 2}, by);
        gradients.row(i)[0] = -4 * x.as<double>().row(i)[0] * by[0];
        gradients.row(i)[1] = -by[0];
      }
    }

   private:
    ModelInfo info_;
  };
  Matrix<double> x(1, 2);
  x.row(0)[0] = -0.25;
  AttackOptions options = by(Method::mifgsm, 10);
  options.gradient.step_size = 0.5;
  options.gradient.decay = 0.5;
  options.gradient.norm = AttackNorm::l2;
  options.steps = 3;
  // By hand: the loss climbs along (4 x0, 1), whose mean size is 1 for it; the sum of three such, halved each
  // time; steps of 0.5 along it.
  std::array<double, 2> at{-0.25, 0}, sum{0, 0};
  for (int step = 0; step < 3; ++step) {
    const double size = (std::abs(4 * at[0]) + 1) / 2;
    sum = {0.5 * sum[0] + 4 * at[0] / size, 0.5 * sum[1] + 1 / size};
    const double length = std::hypot(sum[0], sum[1]);
    at = {at[0] + 0.5 * sum[0] / length, at[1] + 0.5 * sum[1] / length};
  }
  const AttackRow row = attacked(Curved(), x, options)[0];
  EXPECT_NEAR(row.adversarial[0], at[0], 1e-12);
  EXPECT_NEAR(row.adversarial[1], at[1], 1e-12);
  // By signs: x0 falls and x1 grows at each step.
  options.gradient.norm = AttackNorm::linf;
  EXPECT_EQ(attacked(Curved(), x, options)[0].adversarial, (std::vector<double>{-1.75, 1.5}));
}

// Where the ascent rests, the loss's gradient is that of the penalty: 2 penalty δ = p w, p being the
// probability of the other class.
TEST(GradientAttack, ThePenaltyBalancesTheLoss) {
  AttackOptions options = by(Method::pgd_penalty);
  options.steps = 400;
  options.go_on = true;
  for (const double penalty : {0.5, 2.0, 20.0}) {
    options.gradient.penalty = penalty;
    const AttackRow row = attacked_zero(plane(), options);
    const double p = 1 / (1 + std::exp(-row.last_logit));
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(2 * penalty * row.adversarial[j], -(1 - p) * kWeights[j], 1e-6) << penalty;
  }
}

TEST(GradientAttack, CwAndLbfgsComeToTheNearestPointOfThePlane) {
  for (const Method method : {Method::cw, Method::lbfgs}) {
    for (const bool bounded : {false, true}) {
      AttackOptions options = by(method);
      if (method == Method::cw) options.steps = 400;
      if (bounded) {
        options.lower = -0.5;
        options.upper = 0.5;
      }
      const AttackRow row = attacked_zero(plane(), options);
      EXPECT_EQ(row.outcome, AttackOutcome::changed);
      EXPECT_EQ(row.new_class, 1);
      EXPECT_GE(distance(row), kMargin / kL2);
      EXPECT_LE(distance(row), 1.03 * kMargin / kL2) << attack_method_name(method) << " " << bounded;
    }
  }
}

// Where the nearest point of the plane is out of bounds, the nearest one within has that feature at its
// bound.
TEST(GradientAttack, CwAndLbfgsComeToTheNearestPointWithinTheBounds) {
  for (const Method method : {Method::cw, Method::lbfgs}) {
    AttackOptions options = by(method);
    options.steps = method == Method::cw ? 1000 : 50;
    options.lower = 0;  // so that features 0 and 2, which would have to fall, stay
    options.upper = 1;
    const AttackRow row = attacked_zero(plane(), options);
    EXPECT_TRUE(row.success);
    for (const double value : row.adversarial) EXPECT_TRUE(value >= 0 && value <= 1);
    EXPECT_LE(distance(row), 1.05 / std::sqrt(17.0)) << attack_method_name(method);
    EXPECT_GE(distance(row), (1 - 1e-4) / std::sqrt(17.0));
  }
}

TEST(GradientAttack, LbfgsFindsTheNearestPointOfACurvedBoundary) {
  const auto model = make_function_model("soft-ball", 3);
  Matrix<double> x(1, 3);
  x.row(0)[1] = 0.4;
  for (const Method method : {Method::cw, Method::lbfgs}) {
    AttackOptions options = by(method);
    if (method == Method::cw) options.steps = 400;
    const AttackRow row = attacked(*model, x, options)[0];
    EXPECT_NEAR(distance(row), 0.6, 0.6 * 0.03) << attack_method_name(method);
  }
}

TEST(GradientAttack, KappaIsTheLeadOfTheOtherClass) {
  AttackOptions options = by(Method::cw);
  for (const Method method : {Method::lbfgs, Method::cw}) {
    options = by(method);
    if (method == Method::cw) {
      options.gradient.constant = 10;
      options.steps = 400;
    }
    options.gradient.kappa = 2;
    const AttackRow row = attacked_zero(plane(), options);
    EXPECT_TRUE(row.success);
    EXPECT_LE(row.last_logit, -2) << attack_method_name(method);
    EXPECT_NEAR(distance(row), (kMargin + 2) / kL2, 0.03 * (kMargin + 2) / kL2) << attack_method_name(method);
  }
  options.steps = 1;  // the row itself
  const AttackRow first = attacked_zero(plane(), options);
  EXPECT_EQ(first.outcome, AttackOutcome::kept);
  EXPECT_EQ(first.evaluations, 2U);
}

}  // namespace
}  // namespace harmonia
