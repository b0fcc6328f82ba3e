#include "harmonia/core/logistic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

// Rows of one input that is 0 or 1, with these counts of outcomes 0 and 1.
struct Counted {
  std::vector<double> x;
  std::vector<char> y;

  void add(double value, char outcome, int times) {
    for (int i = 0; i < times; ++i) {
      x.push_back(value);
      y.push_back(outcome);
    }
  }
  MatrixView<const double> view() const { return {x.data(), x.size(), 1}; }
};

// Of a 2 × 2 table the coefficients are the log-odds and the log-odds ratio, and the errors of the log-odds
// are those of Woolf.
TEST(Logistic, TwoByTwoTable) {
  Counted rows;
  rows.add(0, 0, 30);
  rows.add(0, 1, 10);
  rows.add(1, 0, 15);
  rows.add(1, 1, 45);
  const Logistic fit = fit_logistic(rows.view(), rows.y, 0).value();
  const double zero = 0, one = 1;
  EXPECT_NEAR(fit.log_odds({&zero, 1}), std::log(10.0 / 30), 1e-10);
  EXPECT_NEAR(fit.log_odds({&one, 1}), std::log(45.0 / 15), 1e-10);
  EXPECT_NEAR(fit.coefficients[1] / fit.scales[0], std::log(9.0), 1e-10);
  EXPECT_NEAR(fit.standard_error({&zero, 1}), std::sqrt(1.0 / 10 + 1.0 / 30), 1e-10);
  EXPECT_NEAR(fit.standard_error({&one, 1}), std::sqrt(1.0 / 45 + 1.0 / 15), 1e-10);
  EXPECT_EQ(fit.positives, 55U);
  EXPECT_FALSE(fit.separated);
}

// At the optimum the penalised gradient is 0.
TEST(Logistic, RidgeOptimum) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  Matrix<double> x(200, 3);
  std::vector<char> y(200);
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 3; ++j) x.row(i)[j] = 100 * static_cast<double>(j) + 5 * normal(generator);
    y[i] = x.row(i)[0] + 3 * normal(generator) > 0 ? 1 : 0;
  }
  for (const double ridge : {0.0, 0.1, 25.0}) {
    const Logistic fit = fit_logistic(x.view(), y, ridge).value();
    std::vector<double> gradient(4);
    for (std::size_t i = 0; i < 200; ++i) {
      const std::vector<double> z = fit.standardised({x.row(i), 3});
      const double left = (y[i] != 0 ? 1 : 0) - logistic(fit.log_odds({x.row(i), 3}));
      for (std::size_t j = 0; j < 4; ++j) gradient[j] += left * z[j];
    }
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(gradient[j], j > 0 ? ridge * fit.coefficients[j] : 0, 1e-8) << ridge;
  }
}

TEST(Logistic, SeparatedGroupsAreBoundedByTheRidge) {
  Counted rows;
  rows.add(-1, 0, 20);
  rows.add(1, 1, 20);
  const Logistic fit = fit_logistic(rows.view(), rows.y, 0.1).value();
  EXPECT_TRUE(fit.separated);
  // 40 · (1 − p) · z = ridge · c, of the one coefficient.
  const double z = 1 / fit.scales[0], c = fit.coefficients[1];
  EXPECT_NEAR(40 * logistic(-c * z) * z, 0.1 * c, 1e-8);
  EXPECT_NEAR(fit.coefficients[0], 0, 1e-10);
}

// The optimum of a small ridge is where 40 · (1 − p) · z = ridge · c; below some ridge the weights p · (1 −
// p) are lost beside it, and there is no fit rather than a wrong one.
TEST(Logistic, ATinyRidgeHasTheOptimumOrNoFit) {
  Counted rows;
  rows.add(-1, 0, 20);
  rows.add(1, 1, 20);
  EXPECT_FALSE(fit_logistic(rows.view(), rows.y, 0));
  bool was = true;
  for (const double ridge : {1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-30, 1e-100, 1e-300, 5e-324}) {
    const std::optional<Logistic> fit = fit_logistic(rows.view(), rows.y, ridge);
    EXPECT_TRUE(was || !fit) << ridge;  // no smaller one does
    was = fit.has_value();
    if (!fit) continue;
    const double z = 1 / fit->scales[0], c = fit->coefficients[1];
    EXPECT_NEAR(40 * logistic(-c * z) * z / (ridge * c), 1, 1e-6) << ridge;
    for (std::size_t j = 0; j < 2; ++j) EXPECT_GE(fit->covariance.row(j)[j], 0) << ridge;
  }
  EXPECT_TRUE(fit_logistic(rows.view(), rows.y, 1e-6));
}

TEST(Logistic, InputsTooFarApartHaveNoFit) {
  const std::vector<double> x{-1e300, 1e300, -1e299, 1e299};
  const std::vector<char> y{0, 1, 1, 0};
  EXPECT_FALSE(fit_logistic({x.data(), 4, 1}, y, 0.1));
}

TEST(Logistic, AnInputThatNeverVariesHasNoPart) {
  Matrix<double> x(4, 2);
  const std::vector<char> y{0, 1, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    x.row(i)[0] = 0.1;
    x.row(i)[1] = static_cast<double>(i);
  }
  const Logistic fit = fit_logistic(x.view(), y, 0.1).value();
  EXPECT_EQ(fit.coefficients[1], 0);
  EXPECT_EQ(fit.covariance.row(1)[1], 0);
  EXPECT_GT(fit.coefficients[2], 0);
}

TEST(Logistic, OneOutcomeIsRefused) {
  const std::vector<double> x{1, 2};
  const std::vector<char> y{1, 1};
  test::expect_error(ErrorCode::usage, "a logistic regression needs rows of both outcomes", [&] {
    fit_logistic({x.data(), 2, 1}, y, 0.1);
  });
}

TEST(Logistic, NoOverflow) {
  EXPECT_EQ(logistic(1000), 1);
  EXPECT_EQ(logistic(-1000), 0);
  EXPECT_EQ(log_loss(1000, false), 1000);
  EXPECT_EQ(log_loss(1000, true), 0);
  EXPECT_DOUBLE_EQ(log_loss(0, true), std::log(2.0));
}

}  // namespace
}  // namespace harmonia
