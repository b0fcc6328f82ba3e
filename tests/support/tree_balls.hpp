#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "support/random_trees.hpp"

namespace harmonia::testing {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
inline constexpr BallKind kKinds[] = {BallKind::cross, BallKind::one_hot, BallKind::simplex,
                                      BallKind::anti_simplex, BallKind::simplex_pairs};
inline constexpr double kRadii[] = {1e-6, 0.003, 0.1, 1, 10};

/// Rows in and around [0, 1], some values missing, many on a threshold or exactly a radius beside one.
inline Matrix<double> rows_near(const TreeEnsemble& ensemble, std::size_t count, double missing,
                                double radius, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::generate_canonical<double, 53>(random); };
  Matrix<double> x(count, ensemble.columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < ensemble.columns; ++j) {
      double value = 1.2 * uniform() - 0.1;
      if (uniform() < 0.3) value = ensemble.nodes[random() % ensemble.nodes.size()].threshold;
      if (uniform() < 0.2) value += uniform() < 0.5 ? radius : -radius;
      if (uniform() < 0.2) value = std::round(3 * value);
      if (uniform() < missing) value = kMissing;
      x.row(i)[j] = value;
    }
  }
  return x;
}

/// A model of the ensemble that has no table of cells, and answers whole balls whatever they cost.
inline std::unique_ptr<Model> model_of(const TreeEnsemble& ensemble, Simd simd, bool fast = true) {
  return make_tree_model(ensemble, {.name = "random",
                                    .kind = "xgboost",
                                    .sha256 = "",
                                    .margin = ensemble.margins() % 2 == 1,
                                    .simd = simd,
                                    .fast_path = fast,
                                    .cells = false,
                                    .by_cost = false});
}

/// What a ball's answer says of one point.
inline const double* answer_of(const BallAnswer& answer, const RowBall& ball, std::uint64_t unit,
                               std::size_t p) {
  const std::size_t outputs = answer.centre.size(), points = ball.shape().points();
  if (!answer.last.empty() && unit == ball.shape().units - 1) return answer.last.data() + p * outputs;
  const auto at = std::ranges::lower_bound(answer.units, unit);
  if (at == answer.units.end() || *at != unit) return answer.base.data() + p * outputs;
  const auto place = static_cast<std::size_t>(at - answer.units.begin());
  return answer.changed.data() + (place * points + p) * outputs;
}

/// Every point of the balls around the rows is answered as the model answers that point alone.
template <class T>
void expect_point_by_point(const Model& model, const Ball& ball, const Matrix<double>& x) {
  std::vector<RowBall> balls;
  for (std::size_t i = 0; i < x.rows(); ++i)
    balls.emplace_back(ball, std::span<const double>(x.row(i), x.columns()), i);
  std::vector<const RowBall*> asked;
  for (const RowBall& each : balls) asked.push_back(&each);
  std::vector<BallAnswer> answers(balls.size());
  const auto asker = model.ball_path()->open(ball);
  ASSERT_NE(asker, nullptr);
  asker->evaluate(asked, answers);
  const std::size_t outputs = model.info().outputs;
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const RowBall& around = balls[i];
    const std::size_t points = around.shape().points();
    Matrix<T> rows(1 + around.shape().units * points, x.columns());
    Matrix<double> y(rows.rows(), outputs);
    around.fill(RowBall::Place{}, std::span(rows.row(0), x.columns()));
    for (std::uint64_t unit = 0; unit < around.shape().units; ++unit) {
      for (std::size_t p = 0; p < points; ++p) {
        T* const row = rows.row(1 + unit * points + p);
        const RowBall::Place place = around.place(unit, p);
        around.fill(place, std::span(row, x.columns()));
        if (place.own != RowBall::Place::kNone) row[place.own] = static_cast<T>(around.own_coordinate(place));
      }
    }
    model.evaluate(std::as_const(rows).view(), y.view());
    for (std::size_t k = 0; k < outputs; ++k) ASSERT_EQ(answers[i].centre[k], y.row(0)[k]);
    for (std::uint64_t unit = 0; unit < around.shape().units; ++unit)
      for (std::size_t p = 0; p < points; ++p)
        for (std::size_t k = 0; k < outputs; ++k)
          ASSERT_EQ(answer_of(answers[i], around, unit, p)[k], y.row(1 + unit * points + p)[k])
              << "row " << i << ", unit " << unit << ", point " << p;
  }
}

/// The same of all balls and radii, on all kernels.
inline void expect_every_ball(const TreeEnsemble& ensemble, double missing, const Schema& schema = {},
                              Average average = Average::surface) {
  std::uint64_t seed = 1;
  for (const Simd simd : paths()) {
    const auto model = model_of(ensemble, simd);
    for (const BallKind kind : kKinds) {
      for (const double radius : kRadii) {
        BallOptions options;
        options.kind = kind;
        options.radius = radius;
        options.average = average;
        const Ball ball(options, schema, 1);
        Matrix<double> x = rows_near(ensemble, 19, missing, radius, ++seed);
        for (std::size_t i = 0; i < x.rows(); ++i)
          for (std::size_t j = 0; j < schema.size(); ++j)
            x.row(i)[j] = std::clamp(x.row(i)[j], schema[j].lower, schema[j].upper);
        ensemble.scalar == Scalar::float32 ? expect_point_by_point<float>(*model, ball, x)
                                           : expect_point_by_point<double>(*model, ball, x);
        if (::testing::Test::HasFatalFailure()) {
          ADD_FAILURE() << "ball " << ball_name(options) << ", radius " << radius << ", instructions "
                        << static_cast<int>(simd);
          return;
        }
      }
    }
  }
}

}  // namespace harmonia::testing
