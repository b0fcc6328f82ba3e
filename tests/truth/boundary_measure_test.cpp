#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/measure/boundary.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::RowFunction;
using Vector = std::vector<double>;

constexpr double kDegrees = 180 / std::numbers::pi;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Vector unit(Vector v) {
  const double length = std::sqrt(dot(v, v));
  for (double& x : v) x /= length;
  return v;
}

Vector random_vector(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Vector v(n);
  for (double& x : v) x = normal(engine);
  return v;
}

// In degrees, of lines; exact where they are nearly the same.
double between(const Vector& a, const Vector& b) {
  const double sign = dot(a, b) < 0 ? -1 : 1;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(a[i] - sign * b[i], 2);
  return kDegrees * 2 * std::asin(std::sqrt(squares) / 2);
}

double angle_with(const Vector& normal, const Vector& a, const Vector& b) {
  Vector along(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) along[i] = b[i] - a[i];
  return kDegrees * std::asin(std::min(1.0, std::abs(dot(unit(normal), unit(along)))));
}

// Two outputs, or with `labels` the class alone: 1 where f > 0. In float32 the function gets rounded inputs,
// and its answers are rounded.
class Sides final : public Model {
 public:
  Sides(std::size_t n, std::function<double(const double*)> f, Scalar scalar, bool labels = false)
      : f_(std::move(f)), labels_(labels) {
    info_.name = "sides";
    info_.kind = "function";
    info_.inputs = n;
    info_.outputs = labels ? 1 : 2;
    info_.scalar = scalar;
  }
  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    Vector row(info_.inputs);
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = x.scalar() == Scalar::float32 ? static_cast<double>(x.as<float>().row(i)[j])
                                               : x.as<double>().row(i)[j];
      }
      double f = f_(row.data());
      if (x.scalar() == Scalar::float32) f = static_cast<double>(static_cast<float>(f));
      if (labels_) {
        y.row(i)[0] = f > 0 ? 1 : 0;
      } else {
        y.row(i)[0] = 0;
        y.row(i)[1] = f;
      }
    }
  }

 private:
  ModelInfo info_;
  std::function<double(const double*)> f_;
  bool labels_;
};

BoundaryResult measure(const Model& model, const Vector& a, const Vector& b, BoundaryOptions options = {}) {
  harmonia::Run run;
  const BoundaryResult result =
      boundary(model, {a.data(), a.size() / model.info().inputs, model.info().inputs},
               {b.data(), b.size() / model.info().inputs, model.info().inputs}, options, run);
  std::uint64_t sum = 0;
  for (const BoundaryRow& row : result.rows) sum += row.evaluations;
  EXPECT_EQ(sum, run.ledger.spent());
  EXPECT_EQ(sum, result.summary.evaluations);
  return result;
}

BoundaryOptions by(NormalMethod method) {
  BoundaryOptions options;
  options.normal = method;
  return options;
}

void expect_covers(const BoundaryRow& row, double angle) {
  ASSERT_TRUE(row.angle);
  EXPECT_LE(*row.angle_low, angle + 1e-9);
  EXPECT_GE(*row.angle_high, angle - 1e-9);
  EXPECT_LE(*row.angle_low, *row.angle);
  EXPECT_GE(*row.angle_high, *row.angle);
}

struct PlaneCase {
  std::size_t n;
  Scalar scalar;
  NormalMethod method;
  double degrees;  // of the normal
};

class Plane : public testing::TestWithParam<PlaneCase> {};

TEST_P(Plane, CrossingAndNormal) {
  const std::size_t n = GetParam().n;
  const Scalar scalar = GetParam().scalar;
  const NormalMethod method = GetParam().method;
  const double degrees = GetParam().degrees;
  const Vector normal = unit(random_vector(n, 1));
  Vector a = random_vector(n, 2), b = random_vector(n, 3);
  // A lies one below the plane, B two above it.
  const double down = dot(normal, a) + 1, up = dot(normal, b) - 2;
  for (std::size_t j = 0; j < n; ++j) {
    a[j] -= down * normal[j];
    b[j] -= up * normal[j];
  }
  const bool labels = method == NormalMethod::label;
  const Sides model(
      n,
      [&](const double* x) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += normal[j] * x[j];
        return sum;
      },
      scalar, labels);
  const BoundaryResult result = measure(model, a, b, by(method));
  ASSERT_EQ(result.rows.size(), 1U);
  const BoundaryRow& row = result.rows[0];
  EXPECT_EQ(row.outcome, BoundaryOutcome::crossing);
  EXPECT_EQ(row.method, method);
  EXPECT_EQ(row.from, 0);
  EXPECT_EQ(row.to, 1);
  // Rounding of the points moves them across the plane by a few of their last places.
  EXPECT_NEAR(*row.t, 1.0 / 3, scalar == Scalar::float32 ? 3e-7 : 4e-15);
  EXPECT_EQ(std::nextafter(*row.t_low, 2), *row.t_high);
  EXPECT_LT(between(row.normal, normal), degrees);
  EXPECT_GT(dot(row.normal, normal), 0);
  expect_covers(row, angle_with(normal, a, b));
  EXPECT_LT(*row.angle_high - *row.angle_low, 20 * degrees + 0.02);
  const BoundaryCost cost = boundary_cost(by(method), n);
  EXPECT_NEAR(static_cast<double>(row.evaluations),
              static_cast<double>(cost.pair + cost.bisection + (labels ? cost.label : cost.margin)),
              0.2 * static_cast<double>(row.evaluations) + 30);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Plane,
                         testing::Values(PlaneCase{2, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{50, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{784, Scalar::float64, NormalMethod::margin, 1e-9},
                                         PlaneCase{2, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{50, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{784, Scalar::float32, NormalMethod::margin, 0.001},
                                         PlaneCase{2, Scalar::float64, NormalMethod::label, 0.001},
                                         PlaneCase{50, Scalar::float64, NormalMethod::label, 0.01},
                                         PlaneCase{784, Scalar::float64, NormalMethod::label, 0.05},
                                         PlaneCase{2, Scalar::float32, NormalMethod::label, 0.001},
                                         PlaneCase{50, Scalar::float32, NormalMethod::label, 0.01},
                                         PlaneCase{784, Scalar::float32, NormalMethod::label, 0.05}));

// The normal of a sphere is its radius, at every obliqueness; the interval covers the angle of 200 random
// segments out of the sphere, and is no wider than the step's curvature makes it.
TEST(Crossings, SphereHasRadialNormalsAndIntervalsCover) {
  for (const std::size_t n : {2U, 10U}) {
    const auto f = [n](const double* x) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += x[j] * x[j];
      return std::sqrt(sum) - 1;
    };
    for (const bool labels : {false, true}) {
      const Sides model(n, f, Scalar::float64, labels);
      Vector a, b;
      for (unsigned k = 0; k < 200; ++k) {
        const Vector inside = unit(random_vector(n, 100 + k)), outside = unit(random_vector(n, 400 + k));
        for (const double x : inside) a.push_back(0.9 * x);
        for (const double x : outside) b.push_back(2 * x);
      }
      BoundaryOptions options;
      options.step = 0.02;
      const BoundaryResult result = measure(model, a, b, options);
      ASSERT_EQ(result.rows.size(), 200U);
      EXPECT_EQ(result.summary.pairs_by_crossings, (std::vector<std::size_t>{0, 200}));
      std::size_t covered = 0;
      for (const BoundaryRow& row : result.rows) {
        EXPECT_EQ(row.method, labels ? NormalMethod::label : NormalMethod::margin);
        if (row.outcome == BoundaryOutcome::partial) continue;
        const Vector from(a.begin() + static_cast<long>(row.row * n),
                          a.begin() + static_cast<long>(row.row * n + n));
        const Vector to(b.begin() + static_cast<long>(row.row * n),
                        b.begin() + static_cast<long>(row.row * n + n));
        const double truth = angle_with(row.point, from, to);
        const double slope = 1 / std::tan(truth / kDegrees);
        if (!labels) {
          EXPECT_LT(between(row.normal, unit(row.point)), 0.05);
        }
        if (labels && truth > 20) {
          EXPECT_LT(between(row.normal, unit(row.point)), 0.5 * (1 + slope * slope));
        }
        covered += *row.angle_low <= truth + 1e-7 && truth - 1e-7 <= *row.angle_high ? 1 : 0;
        if (truth > 20) {
          EXPECT_LT(*row.angle_high - *row.angle_low, 5) << truth;
        }
      }
      EXPECT_GE(covered, 196U) << n << labels;
    }
  }
}

TEST(Crossings, EverySideOfStripesIsFound) {
  // Classes 0 1 2 3 4 by the first feature, and back.
  const RowFunction model(2, [](const double* x) { return std::floor(5 - std::abs(x[0] - 5)); });
  const BoundaryResult result = measure(model, {0.5, 0}, {9.25, 1});
  std::vector<std::array<long long, 2>> chain;
  for (const BoundaryRow& row : result.rows) {
    chain.push_back({*row.from, *row.to});
    EXPECT_NEAR(row.point[0], std::round(row.point[0]), 1e-12);
    EXPECT_NEAR(*row.angle, kDegrees * std::atan2(8.75, 1), 0.001);
    EXPECT_EQ(row.method, NormalMethod::label);
  }
  EXPECT_EQ(chain, (std::vector<std::array<long long, 2>>{
                       {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 3}, {3, 2}, {2, 1}, {1, 0}}));
}

// A third class between two of the points that are looked at shows when the middle meets it.
TEST(Crossings, AThirdClassBetweenTwoPointsMakesTwoCrossings) {
  const RowFunction model(1, [](const double* x) { return x[0] < 0.4 ? 0 : (x[0] < 0.6 ? 7 : 2); });
  BoundaryOptions options;
  options.steps = 1;
  const BoundaryResult result = measure(model, {0}, {1}, options);
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].to, 7);
  EXPECT_EQ(result.rows[1].from, 7);
  EXPECT_EQ(*result.rows[0].t_high, 0.4);
  EXPECT_EQ(*result.rows[1].t_high, 0.6);
  EXPECT_EQ(*result.rows[1].angle, 90);
}

TEST(Crossings, MoreThanAreToldApartIsAWarning) {
  const RowFunction model(1, [](const double* x) { return std::floor(x[0] * 3000); });
  BoundaryOptions options = by(NormalMethod::none);
  options.steps = 1;
  const BoundaryResult result = measure(model, {0}, {1}, options);
  EXPECT_EQ(result.rows.size(), 1000U);
  ASSERT_EQ(result.summary.warnings.size(), 1U);
  EXPECT_NE(result.summary.warnings[0].find("left out"), std::string::npos);
  options.steps = 6000;
  const BoundaryResult fine = measure(model, {0}, {1}, options);
  EXPECT_EQ(fine.rows.size(), 3000U);
  EXPECT_TRUE(fine.summary.warnings.empty());
}

TEST(Crossings, NoChangeAndNoSegmentAreOutcomes) {
  const auto ball = make_function_model("ball-class", 2, {{"r", 1}});
  // Both outside, passing by; touching at (0, 1), which is outside; through the ball; the same row.
  const BoundaryResult result = measure(*ball, {-2, 1.5, -2, 1, -2, 0.5, 3, 3}, {2, 1.5, 2, 1, 2, 0.5, 3, 3});
  ASSERT_EQ(result.rows.size(), 5U);
  EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::none);
  EXPECT_EQ(result.rows[0].from, 0);
  EXPECT_FALSE(result.rows[0].t);
  EXPECT_EQ(result.rows[1].outcome, BoundaryOutcome::none);
  EXPECT_EQ(result.rows[2].outcome, BoundaryOutcome::crossing);
  EXPECT_EQ(result.rows[3].row, 2U);
  EXPECT_NEAR(*result.rows[2].t, (2 - std::sqrt(0.75)) / 4, 1e-15);
  EXPECT_NEAR(*result.rows[3].t, (2 + std::sqrt(0.75)) / 4, 1e-15);
  EXPECT_EQ(result.rows[4].outcome, BoundaryOutcome::equal);
  EXPECT_EQ(result.rows[4].evaluations, 0U);
  EXPECT_EQ(result.summary.pairs_by_crossings, (std::vector<std::size_t>{3, 0, 1}));
  EXPECT_EQ(result.summary.pairs, 4U);
  const RowFunction constant(2, [](const double*) { return 4; });
  EXPECT_EQ(measure(constant, {0, 0}, {1, 1}).rows[0].outcome, BoundaryOutcome::none);
}

TEST(Crossings, LabelsAloneGiveTheSameCrossings) {
  const auto f = [](const double* x) { return std::sin(3 * x[0]) - x[1] / 2; };
  const Vector a{0, 0.1, 0, -0.3}, b{7, 0.3, 6, 0.9};
  const BoundaryResult margin = measure(Sides(2, f, Scalar::float64), a, b),
                       label = measure(Sides(2, f, Scalar::float64, true), a, b);
  ASSERT_EQ(margin.rows.size(), label.rows.size());
  ASSERT_GT(margin.rows.size(), 8U);
  for (std::size_t i = 0; i < margin.rows.size(); ++i) {
    EXPECT_EQ(margin.rows[i].t, label.rows[i].t);
    EXPECT_EQ(margin.rows[i].method, NormalMethod::margin);
    EXPECT_EQ(label.rows[i].method, NormalMethod::label);
    EXPECT_LE(*margin.rows[i].angle_low, *label.rows[i].angle_high);
    EXPECT_GE(*margin.rows[i].angle_high, *label.rows[i].angle_low);
  }
}

TEST(Crossings, TinyAndHugeSegments) {
  for (const double size : {1e-200, 1e-30, 1e200}) {
    const RowFunction model(2, [size](const double* x) { return x[0] + x[1] > 0.25 * size ? 1 : 0; });
    const BoundaryResult result = measure(model, {0, 0}, {size, 0}, by(NormalMethod::none));
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_NEAR(*result.rows[0].t, 0.25, 1e-15);
    BoundaryOptions options;
    options.step = size / 1000;
    EXPECT_NEAR(*measure(model, {0, 0}, {size, 0}, options).rows[0].angle, 45, 0.001);
    if (size != 1e-30) {
      EXPECT_THROW(measure(model, {0, 0}, {size, 0}), Error);  // the squares of the spread are no doubles
    }
  }
}

TEST(Crossings, SegmentsThatNoDoubleHoldsInUnitsOfTheScale) {
  for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label, NormalMethod::none}) {
    const Sides model(
        2, [](const double* x) { return x[0] > 0 ? 1.0 : -1.0; }, Scalar::float64);
    BoundaryOptions options = by(method);
    options.step = 1;
    options.steps = 1;
    options.schema = plain_schema({"x", "y"});
    options.schema[0].scale = options.schema[1].scale = 4;
    const BoundaryResult result = measure(model, {0, 0}, {5e-324, 0}, options);
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::equal);
    options.schema[0].scale = 1e-100;
    EXPECT_THROW(measure(model, {0, 0}, {1e300, 0}, options), Error);
  }
}

TEST(Crossings, AStepThatDoesNotMoveThePointIsRefused) {
  const Sides model(
      2, [](const double* x) { return x[0] + x[1] - 2; }, Scalar::float32);
  for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label}) {
    BoundaryOptions options = by(method);
    options.step = 1e-9;
    EXPECT_THROW(measure(model, {0.25, 1}, {1.75, 1}, options), Error);
  }
}

// Feature y, at 1.5, moves by the step in float32 and not by half of it.
TEST(Crossings, AStepWhoseHalfDoesNotMoveThePointTellsNoAngle) {
  const Sides model(
      2, [](const double* x) { return x[0] + 2 * (x[1] - 1.5); }, Scalar::float32);
  BoundaryOptions options = by(NormalMethod::margin);
  options.step = 8e-8;
  const BoundaryResult result = measure(model, {-1, 1.5}, {2, 1.5}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  ASSERT_TRUE(result.rows[0].angle);
  EXPECT_EQ(*result.rows[0].angle_low, 0);
  EXPECT_EQ(*result.rows[0].angle_high, 90);
}

// A probability that jumps at the boundary, as that of trees, has no slope there: labels find the normal.
TEST(Crossings, AnswersThatJumpAreLeftToTheLabels) {
  const Sides model(
      3, [](const double* x) { return x[0] + 2 * x[1] > 0.3 ? 0.8 : -0.4; }, Scalar::float64);
  const BoundaryResult result = measure(model, {-1, 0, 0}, {1, 0.5, 2});
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].method, NormalMethod::label);
  EXPECT_LT(between(result.rows[0].normal, unit({1, 2, 0})), 0.001);
  // Asked for all the same, the interval owns that nothing is known.
  const BoundaryResult forced = measure(model, {-1, 0, 0}, {1, 0.5, 2}, by(NormalMethod::margin));
  EXPECT_LT(*forced.rows[0].angle_low, 1);
  EXPECT_GT(*forced.rows[0].angle_high, 89);
}

TEST(Crossings, ScalesAreTheUnitOfAngles) {
  const RowFunction model(2, [](const double* x) { return x[0] / 10 + x[1] > 0 ? 1 : 0; });
  BoundaryOptions options;
  options.schema = plain_schema({"x", "y"});
  options.schema[0].scale = 10;
  // In units of the scales the segment is (2, 0) and the normal (1, 1).
  const BoundaryResult result = measure(model, {-10, 0}, {10, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_NEAR(*result.rows[0].angle, 45, 0.001);
  EXPECT_LT(between(result.rows[0].normal, unit({1, 1})), 0.001);
}

TEST(Crossings, MissingAndFixedFeaturesStay) {
  RowFunction model(3, [](const double* x) {
    EXPECT_TRUE(std::isnan(x[1]));
    return x[0] + x[2] > 0 ? 1 : 0;
  });
  model.info().takes_missing = true;
  const double missing = std::nan("");
  BoundaryOptions options;
  const BoundaryResult result = measure(model, {-1, missing, 0}, {1, missing, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_NEAR(*result.rows[0].angle, 45, 0.001);
  EXPECT_EQ(result.rows[0].normal[1], 0);
  options.schema = plain_schema({"x", "y", "z"});
  options.schema[2].fixed = true;
  const BoundaryResult fixed = measure(model, {-1, missing, 0}, {1, missing, 0}, options);
  EXPECT_EQ(*fixed.rows[0].angle, 90);
  EXPECT_EQ(fixed.rows[0].normal, (Vector{1, 0, 0}));
}

// The corner of three classes: where the third one lies, no boundary of the first two is found.
TEST(Crossings, DirectionsWithoutBoundaryAreLeftOut) {
  const RowFunction model(2, [](const double* x) { return x[1] > 0.001 ? 2 : (x[0] > 0 ? 1 : 0); });
  BoundaryOptions options;
  options.step = 0.1;
  const BoundaryResult result = measure(model, {-1, 0}, {1, 0}, options);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].outcome, BoundaryOutcome::partial);
  EXPECT_EQ(result.rows[0].left_out, 1U);
  EXPECT_EQ(*result.rows[0].angle_low, 0);
  EXPECT_EQ(result.summary.angles, 0U);
  // A second pair, far from the corner, is all that the mean is about.
  const BoundaryResult two = measure(model, {-1, 0, -1, -3}, {1, 0, 1, -1}, options);
  ASSERT_EQ(two.rows.size(), 2U);
  EXPECT_EQ(two.summary.angles, 1U);
  EXPECT_EQ(*two.summary.mean, *two.rows[1].angle);
  EXPECT_EQ(two.summary.max_error, two.summary.median_error);
  std::size_t in_histogram = 0;
  for (const std::size_t bin : two.summary.histogram) in_histogram += bin;
  EXPECT_EQ(in_histogram, 1U);
  EXPECT_EQ(two.summary.outcomes[static_cast<std::size_t>(BoundaryOutcome::partial)], 1U);
}

// 784-100-20-10, as the networks of the paper.
class Network final : public Model {
 public:
  explicit Network(Scalar scalar) {
    info_.name = "network";
    info_.kind = "function";
    info_.inputs = 784;
    info_.outputs = 10;
    info_.scalar = scalar;
    const std::array<std::size_t, 4> widths{784, 100, 20, 10};
    for (unsigned layer = 0; layer < 3; ++layer) {
      Vector w = random_vector(widths[layer] * widths[layer + 1], 10 + layer);
      for (double& x : w) x = static_cast<float>(x * std::sqrt(2 / static_cast<double>(widths[layer])));
      weights_.push_back({widths[layer], widths[layer + 1], std::move(w)});
    }
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      if (x.scalar() == Scalar::float32) {
        forward(x.as<float>().row(i), y.row(i));
      } else {
        forward(x.as<double>().row(i), y.row(i));
      }
    }
  }
  // Of output `to` minus output `from`, with respect to the inputs.
  Vector gradient(const Vector& x, std::size_t from, std::size_t to) const {
    std::vector<Vector> values{x};
    for (const Layer& layer : weights_) values.push_back(apply(layer, values.back()));
    Vector back(10, 0.0);
    back[to] = 1;
    back[from] = -1;
    for (std::size_t l = 3; l-- > 0;) {
      Vector before(weights_[l].in, 0.0);
      for (std::size_t o = 0; o < weights_[l].out; ++o) {
        if (l < 2 && values[l + 1][o] <= 0) continue;
        for (std::size_t i = 0; i < weights_[l].in; ++i)
          before[i] += back[o] * weights_[l].w[o * weights_[l].in + i];
      }
      back = before;
    }
    return back;
  }

 private:
  struct Layer {
    std::size_t in, out;
    Vector w;
  };

  template <class T>
  std::vector<T> apply(const Layer& layer, const std::vector<T>& x) const {
    std::vector<T> y(layer.out);
    for (std::size_t o = 0; o < layer.out; ++o) {
      T sum = 0;
      for (std::size_t i = 0; i < layer.in; ++i) sum += static_cast<T>(layer.w[o * layer.in + i]) * x[i];
      y[o] = layer.out == 10 || sum > 0 ? sum : 0;
    }
    return y;
  }
  template <class T>
  void forward(const T* x, double* y) const {
    std::vector<T> values(x, x + 784);
    for (const Layer& layer : weights_) values = apply(layer, values);
    for (std::size_t k = 0; k < 10; ++k) y[k] = static_cast<double>(values[k]);
  }

  ModelInfo info_;
  std::vector<Layer> weights_;
};

TEST(Crossings, NormalOfANetworkIsItsGradient) {
  constexpr std::size_t pairs = 8, n = 784;
  const Vector a = random_vector(pairs * n, 21), b = random_vector(pairs * n, 22);
  for (const Scalar scalar : {Scalar::float64, Scalar::float32}) {
    const Network model(scalar);
    const BoundaryResult result = measure(model, a, b);
    EXPECT_GE(result.summary.crossings, pairs);
    Vector errors;
    for (const BoundaryRow& row : result.rows) {
      if (!row.t) continue;
      EXPECT_EQ(row.outcome, BoundaryOutcome::crossing);
      ASSERT_EQ(row.method, NormalMethod::margin);
      const Vector gradient = unit(
          model.gradient(row.point, static_cast<std::size_t>(*row.from), static_cast<std::size_t>(*row.to)));
      errors.push_back(between(row.normal, gradient));
      const auto first = static_cast<long>(row.row * n), end = static_cast<long>((row.row + 1) * n);
      expect_covers(row, angle_with(gradient, {a.begin() + first, a.begin() + end},
                                    {b.begin() + first, b.begin() + end}));
    }
    std::sort(errors.begin(), errors.end());
    // In float32 answers are rounded; a kink of the network may lie within the larger step of a few
    // crossings.
    EXPECT_LT(errors[errors.size() / 2], scalar == Scalar::float32 ? 0.03 : 1e-6);
    EXPECT_LT(errors.back(), scalar == Scalar::float32 ? 3 : 1e-6);
  }
}

TEST(Crossings, ResultsDoNotDependOnThreadsAndBatches) {
  const Network model(Scalar::float64);
  const Vector a = random_vector(3 * 784, 31), b = random_vector(3 * 784, 32);
  std::vector<BoundaryResult> results;
  for (const std::size_t batch : {0U, 1U, 7U}) {
    harmonia::Run run;
    run.threads = batch == 7 ? 3 : 1;
    BoundaryOptions options;
    options.steps = 20;
    options.batch = batch;
    results.push_back(boundary(model, {a.data(), 3, 784}, {b.data(), 3, 784}, options, run));
  }
  for (const BoundaryResult& other : results) {
    ASSERT_EQ(other.rows.size(), results[0].rows.size());
    for (std::size_t i = 0; i < other.rows.size(); ++i) {
      EXPECT_EQ(other.rows[i].t, results[0].rows[i].t);
      EXPECT_EQ(other.rows[i].normal, results[0].rows[i].normal);
      EXPECT_EQ(other.rows[i].angle_low, results[0].rows[i].angle_low);
    }
  }
}

TEST(Crossings, TheBudgetIsKept) {
  const Sides model(
      4, [](const double* x) { return x[0] + x[1] - 0.3; }, Scalar::float64);
  Vector a, b;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) {
      a.push_back(0.01 * i);
      b.push_back(1 + 0.1 * j);
    }
  }
  for (const std::uint64_t limit : {1U, 100U, 101U, 150U, 400U, 560U, 700U, 840U, 100000U}) {
    for (const NormalMethod method : {NormalMethod::margin, NormalMethod::label}) {
      harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(limit), .progress = {}, .stop = {}};
      const BoundaryResult result = boundary(model, {a.data(), 5, 4}, {b.data(), 5, 4}, by(method), run);
      EXPECT_LE(run.ledger.spent(), limit);
      EXPECT_EQ(result.rows.size(), 5U);
      std::uint64_t sum = 0;
      for (const BoundaryRow& row : result.rows) {
        sum += row.evaluations;
        if (row.outcome == BoundaryOutcome::crossing) {
          EXPECT_LT(between(row.normal, unit({1, 1, 0, 0})), 0.01);
        } else {
          EXPECT_EQ(row.outcome, BoundaryOutcome::budget);
          EXPECT_FALSE(row.angle);
        }
      }
      EXPECT_EQ(sum, run.ledger.spent());
      if (limit == 100000) {
        EXPECT_EQ(result.rows[4].outcome, BoundaryOutcome::crossing);
      }
      if (limit == 100) {
        EXPECT_FALSE(result.rows[0].t);
      }
    }
  }
}

// Pairs whose angles are drawn from one population; 500 samples of 20 pairs, so that fewer than 452 of 500
// covered happens once in a thousand times if 95 % are.
TEST(Crossings, TheMeanAnglesIntervalCovers) {
  const RowFunction model(2, [](const double* x) { return x[0] > 0 ? 1 : 0; });
  std::mt19937 engine(9);
  std::uniform_real_distribution<double> angle(0.2, std::numbers::pi / 2);
  const double truth = kDegrees * (0.2 + std::numbers::pi / 2) / 2;
  int covered = 0;
  for (int sample = 0; sample < 500; ++sample) {
    Vector a, b;
    for (int i = 0; i < 20; ++i) {
      const double at = angle(engine);
      a.insert(a.end(), {-std::sin(at), -std::cos(at)});
      b.insert(b.end(), {std::sin(at), std::cos(at)});
    }
    BoundaryOptions options;
    options.steps = 3;
    const BoundarySummary summary = measure(model, a, b, options).summary;
    covered += *summary.low <= truth && truth <= *summary.high ? 1 : 0;
  }
  EXPECT_GE(covered, 452);
}

}  // namespace
}  // namespace harmonia
