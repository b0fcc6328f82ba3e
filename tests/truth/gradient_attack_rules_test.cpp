#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "harmonia/core/error.hpp"
#include "harmonia/model/function_model.hpp"
#include "harmonia/model/image_model.hpp"
#include "harmonia/search/attack_study.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"
#include "support/gradient_attacks.hpp"

namespace harmonia {
namespace {

using test::attacked;
using test::attacked_zero;
using test::by;
using test::DenseNetwork;
using test::distance;
using test::expect_error;
using test::kAll;
using test::kSteppers;
using test::linear;
using test::many_rows;
using test::Method;
using test::plane;

TEST(GradientAttack, ATargetIsReachedAndNoOtherClassCounts) {
  const DenseNetwork model = linear({{0, 0}, {1, 0}, {0.2, 0.1}}, {1, 0, 0});
  for (const Method method : kAll) {
    AttackOptions options = by(method, 20);
    options.gradient.target = {.kind = AttackTarget::Kind::given, .label = 2};
    options.gradient.norm = standard_norm(method);
    options.gradient.penalty = 1e-3;
    if (method == Method::cw) {
      options.steps = 4000;
      options.gradient.step_size = 0.05;
      options.gradient.constant = 500;
    }
    if (method == Method::lbfgs) options.steps = 100;
    if (method == Method::pgd_penalty) options.steps = 1000, options.gradient.step_size = 1;
    const AttackRow row = attacked_zero(model, options);
    EXPECT_EQ(row.first_class, 0) << attack_method_name(method);
    EXPECT_EQ(row.target, 2);
    EXPECT_EQ(row.success, row.new_class == 2) << attack_method_name(method);
    // A ball of 20 reaches class 2 only by moving both features their own ways.
    if (method != Method::fgsm && method != Method::rfgsm) {
      EXPECT_TRUE(row.success) << attack_method_name(method) << " " << row.adversarial[0] << " "
                               << row.adversarial[1];
    }
  }
}

TEST(GradientAttack, TargetsAreChosenByTheRow) {
  const DenseNetwork model = linear({{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {-1, 3, -2, 0});
  using Kind = AttackTarget::Kind;
  AttackOptions options = by(Method::fgsm);
  const auto target = [&](Kind kind, long long label = 0) {
    options.gradient.target = {.kind = kind, .label = label};
    return attacked_zero(model, options).target;
  };
  EXPECT_EQ(target(Kind::none), std::nullopt);
  EXPECT_EQ(target(Kind::next), 2);
  EXPECT_EQ(target(Kind::least), 2);
  options.gradient.target = {.kind = Kind::random, .label = 0};
  std::array<int, 4> drawn{};
  for (const AttackRow& row : attacked(model, Matrix<double>(300, 2), options)) ++drawn[*row.target];
  EXPECT_EQ(drawn[1], 0);                                                // the row's own
  for (const std::size_t k : {0, 2, 3}) EXPECT_NEAR(drawn[k], 100, 40);  // 5 deviations
  options.gradient.target = {.kind = Kind::given, .label = 1};
  const AttackRow row = attacked_zero(model, options);
  EXPECT_EQ(row.outcome, AttackOutcome::already);
  EXPECT_FALSE(row.success);
  EXPECT_EQ(row.evaluations, 1U);
}

TEST(GradientAttack, RowsOfTheTargetsClassAreNotCounted) {
  const DenseNetwork model = linear({{1, 0}, {-1, 0}}, {0, 0});
  Matrix<double> x(4, 2);
  for (std::size_t i = 0; i < 4; ++i) x.row(i)[0] = i == 3 ? -1 : 0.1;
  const auto data = make_memory_source(x.view());
  AttackOptions options = by(Method::pgd, 0.2);
  options.gradient.target = {.kind = AttackTarget::Kind::given, .label = 1};
  harmonia::Run run;
  const AttackStudy study = attack_study(model, *data, options, Method::fgsm, 0.95, run);
  for (const AttackRun& part : study.runs) {
    EXPECT_EQ(part.summary.rows, 3U);
    EXPECT_EQ(part.summary.changed, 3U);
    EXPECT_EQ(part.summary.outcomes[static_cast<std::size_t>(AttackOutcome::already)], 1U);
  }
  EXPECT_EQ(study.comparison->rows, 3U);
}

TEST(GradientAttack, BoundsFixedAndWholeFeaturesHold) {
  const DenseNetwork model = DenseNetwork::random({6, 12, 3});
  AttackOptions options;
  for (const Method method : kAll) {
    for (const AttackNorm norm : {AttackNorm::linf, AttackNorm::l2}) {
      if (standard_norm(method) == AttackNorm::l2 && norm == AttackNorm::linf) continue;
      options = by(method, 1.5);
      options.gradient.norm = norm;
      options.lower = 0;
      options.upper = 3;
      options.schema = Schema(6);
      options.schema[1].fixed = true;
      options.schema[2].integer = true;
      options.schema[3].upper = 1.25;
      options.schema[4].scale = 0.1;
      Matrix<double> x = many_rows(20, 6);
      for (std::size_t i = 0; i < 20; ++i) x.row(i)[2] = static_cast<double>(i % 4);
      for (const AttackRow& row : attacked(model, x, options)) {
        EXPECT_EQ(row.adversarial[1], row.original[1]);
        EXPECT_EQ(row.adversarial[2], std::round(row.adversarial[2]));
        EXPECT_LE(row.adversarial[3], 1.25);
        for (const double value : row.adversarial) EXPECT_TRUE(value >= 0 && value <= 3) << value;
        if (!needs_epsilon(method)) continue;
        EXPECT_LE(norm == AttackNorm::l2 ? distance(row) : row.distortion_linf, 1.5 * (1 + 1e-12));
      }
    }
  }
}

TEST(GradientAttack, ResultsDoNotDependOnThreadsOrBatches) {
  const DenseNetwork model = DenseNetwork::random({5, 10, 4});
  const Matrix<double> x = many_rows(50, 5);
  for (const Method method : kAll) {
    AttackOptions options = by(method, 0.3);
    const std::vector<AttackRow> one = attacked(model, x, options);
    options.batch = 7;
    const std::vector<AttackRow> two = attacked(model, x, options, 2);
    ASSERT_EQ(one.size(), two.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].adversarial, two[i].adversarial) << attack_method_name(method);
      EXPECT_EQ(one[i].outcome, two[i].outcome);
      EXPECT_EQ(one[i].evaluations, two[i].evaluations);
    }
  }
}

TEST(GradientAttack, WithoutAGradientASearchIsStuck) {
  const DenseNetwork model = linear({{0, 0, 0}, {0, 0, 0}}, {1, 0});
  for (const Method method : kAll) {
    const AttackRow row = attacked_zero(model, by(method));
    EXPECT_EQ(row.outcome, AttackOutcome::stuck) << attack_method_name(method);
    EXPECT_EQ(row.adversarial, row.original);
    EXPECT_FALSE(row.success);
    EXPECT_EQ(row.evaluations, 2U);
  }
}

TEST(GradientAttack, MoreIsChangedInLargerBalls) {
  const DenseNetwork model = DenseNetwork::random({8, 20, 5});
  const Matrix<double> x = many_rows(200, 8);
  for (const Method method : kSteppers) {
    std::size_t before = 0;
    for (const double epsilon : {0.02, 0.1, 0.5}) {
      const auto rows = attacked(model, x, by(method, epsilon));
      const auto changed = static_cast<std::size_t>(std::ranges::count_if(rows, &AttackRow::success));
      EXPECT_GT(changed, before + 10) << attack_method_name(method) << " " << epsilon;
      before = changed;
    }
  }
}

// Found points are of another class, and cw and lbfgs find no farther ones than pgd.
TEST(GradientAttack, PointsOfARandomNetworkAreWhatTheyAreSaidToBe) {
  const DenseNetwork model = DenseNetwork::random({8, 20, 5});
  const Matrix<double> x = many_rows(60, 8);
  AttackOptions walk = by(Method::pgd, 3);
  walk.gradient.norm = AttackNorm::l2;
  walk.gradient.step_size = 0.02;
  walk.steps = 300;
  const auto reference = attacked(model, x, walk);
  for (const Method method : kAll) {
    AttackOptions options = by(method, 0.5);
    if (method == Method::cw) options.gradient.constant = 10, options.steps = 400;
    const auto rows = attacked(model, x, options);
    std::size_t nearer = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Matrix<double> y(1, 5);
      model.evaluate(MatrixView<const double>{rows[i].adversarial.data(), 1, 8}, y.view());
      const auto label = std::max_element(y.row(0), y.row(0) + 5) - y.row(0);
      EXPECT_EQ(label, rows[i].new_class);
      EXPECT_EQ(rows[i].success, label != rows[i].first_class);
      nearer += rows[i].success && distance(rows[i]) <= 1.02 * distance(reference[i]) ? 1 : 0;
    }
    if (method == Method::cw || method == Method::lbfgs) {
      EXPECT_GE(nearer, 57U) << attack_method_name(method);
    }
  }
}

// A softmax's outputs, by their logarithms, are attacked as its logits are; so is one probability of two.
TEST(GradientAttack, ProbabilitiesAreAttackedByTheirLogarithms) {
  const auto model = make_function_model("soft-plane", 9, {{"d", 0.6}});
  const AttackRow plane = attacked_zero(*model, by(Method::lbfgs));
  EXPECT_NEAR(distance(plane), 0.6, 0.6 * 0.03);
  EXPECT_EQ(plane.first_class, 1);
  AttackOptions options = by(Method::fgsm, 0.19);
  EXPECT_FALSE(attacked_zero(*model, options).success);  // 0.6 / √9
  options.epsilon = 0.21;
  EXPECT_TRUE(attacked_zero(*model, options).success);
}

TEST(GradientAttack, SoftmaxOutputsHaveTheGradientOfTheirLogits) {
  class Softmax final : public Model, public Differentiable {
   public:
    explicit Softmax(DenseNetwork inner) : inner_(std::move(inner)) {}
    const ModelInfo& info() const override { return std::as_const(inner_).info(); }
    const Differentiable* differentiable() const override { return this; }
    void evaluate(RowsView x, MutableRowsView y) const override {
      inner_.evaluate(x, y);
      for (std::size_t i = 0; i < y.rows; ++i) soften({y.row(i), y.columns});
    }
    void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                  MutableRowsView gradients) const override {
      const auto chain = [&](std::size_t i, std::span<const double> outputs, std::span<double> out) {
        std::vector<double> p(outputs.begin(), outputs.end()), by(out.size());
        soften(p);
        by_outputs(i, p, by);
        const double mean = std::inner_product(p.begin(), p.end(), by.begin(), 0.0);
        for (std::size_t k = 0; k < p.size(); ++k) out[k] = p[k] * (by[k] - mean);
      };
      inner_.gradient(x, chain, y, gradients);
      for (std::size_t i = 0; i < y.rows; ++i) soften({y.row(i), y.columns});
    }

   private:
    static void soften(std::span<double> y) {
      double sum = 0;
      for (double& value : y) sum += value = std::exp(value);
      for (double& value : y) value /= sum;
    }
    DenseNetwork inner_;
  };
  const DenseNetwork network = DenseNetwork::random({5, 10, 4});
  const Softmax soft(network);
  const Matrix<double> x = many_rows(20, 5);
  for (const Method method : kAll) {
    AttackOptions options = by(method, 0.3);
    const auto plain = attacked(network, x, options);
    options.gradient.probabilities = true;
    const auto softened = attacked(soft, x, options);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(plain[i].success, softened[i].success) << attack_method_name(method);
      for (std::size_t j = 0; j < 5; ++j)
        EXPECT_NEAR(plain[i].adversarial[j], softened[i].adversarial[j], 1e-5) << attack_method_name(method);
    }
  }
}

// Images from 0 to 255 take the constants of images from 0 to 1.
TEST(GradientAttack, ConstantsDoNotDependOnTheWidthOfTheBounds) {
  const auto scaled = [](double width) {
    const auto w = [&](double weight) { return 8 * weight / width; };
    return linear({{w(3), w(-4), w(0.5)}, {0, 0, 0}}, {-0.4, 0});
  };
  for (const Method method : {Method::cw, Method::lbfgs, Method::pgd_penalty}) {
    std::vector<std::vector<double>> found;
    for (const double width : {1.0, 256.0}) {
      AttackOptions options = by(method);
      options.lower = 0;
      options.upper = width;
      Matrix<double> x(1, 3);
      for (std::size_t j = 0; j < 3; ++j) x.row(0)[j] = 0.5 * width;
      const AttackRow row = attacked(scaled(width), x, options)[0];
      found.push_back(row.adversarial);
      for (double& value : found.back()) value /= width;
      EXPECT_TRUE(row.success) << attack_method_name(method);
    }
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(found[0][j], found[1][j], 1e-9);
  }
}

// Of images epsilon is in pixel values, and these stay between 0 and 255.
TEST(GradientAttack, PixelsMoveByEpsilonWithinTheirRange) {
  const ImageDescription description = read_image_description(
      R"({"height": 2, "width": 2, "channels": "rgb", "mean": [0.4, 0, 0.1], "std": [1, 2, 0.5]})", "d.json");
  const auto model = make_image_model(std::make_unique<DenseNetwork>(DenseNetwork::random({12, 9, 3})),
                                      description, "d.json");
  Matrix<double> x(5, 12);
  for (std::size_t i = 0; i < 60; ++i) x.row(0)[i] = i % 3 == 0 ? 255 : static_cast<double>(53 * i % 256);
  const AttackOptions options = of_images(by(Method::fgsm, 8), {.height = 2, .width = 2, .channels = 3});
  std::size_t clipped = 0;
  for (const AttackRow& row : attacked(*model, x, options)) {
    for (std::size_t j = 0; j < 12; ++j) {
      const double from = row.original[j], to = row.adversarial[j];
      EXPECT_TRUE(to == std::min(from + 8, 255.0) || to == std::max(from - 8, 0.0)) << from << " " << to;
      clipped += to == from ? 1 : 0;
    }
  }
  EXPECT_GT(clipped, 0U);
}

TEST(GradientAttack, BadOptionsAreOneLine) {
  const DenseNetwork model = plane();
  const auto fails = [&](const AttackOptions& options, const std::string& message, const Model& on) {
    expect_error(ErrorCode::usage, message, [&] { check_attack(options, on, on.info().inputs); });
  };
  for (const Method method : kSteppers) {
    AttackOptions options = by(method, 0);
    fails(options,
          "epsilon is 0; method " + attack_method_name(method) +
              " needs the size of its ball, a number above 0",
          model);
  }
  AttackOptions options = by(Method::pgd);
  options.gradient.target = {.kind = AttackTarget::Kind::given, .label = 2};
  fails(options, "target 2; model network has the classes 0 to 1", model);
  options = by(Method::cw);
  options.gradient.norm = AttackNorm::linf;
  fails(options, "method cw goes by the l2 distance; expected no norm linf with it", model);
  options = by(Method::pgd_penalty);
  options.gradient.penalty = 0;
  fails(options,
        "penalty is 0; method pgd-penalty needs the weight of the squared distance, a number above 0", model);
  options = by(Method::cw);
  options.gradient.kappa = -1;
  fails(options, "kappa is -1; expected 0 or more", model);
  fails(by(Method::pgd),
        "model test has no gradients, which method pgd needs; methods that work with it are gamma, random, "
        "greedy, "
        "boundary and, by estimated gradients, nes",
        test::RowFunction(2, 2, [](const double*, double* y) { y[0] = y[1] = 0; }));
  options = by(Method::boundary);
  options.radius = 1;
  options.gradient.target = {.kind = AttackTarget::Kind::next, .label = 0};
  fails(options, "method boundary looks for any other class; a target is of methods that use gradients",
        model);
  expect_error(ErrorCode::usage, "target 'cat'; expected the number of a class, next, random or least",
               [] { parse_attack_target("cat"); });
  expect_error(ErrorCode::usage, "norm 'l1'; expected linf or l2", [] { parse_attack_norm("l1"); });
}

}  // namespace
}  // namespace harmonia
