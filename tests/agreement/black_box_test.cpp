#include "harmonia/model/black_box.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia {
namespace {

// Sines of three sums: every bit of every coordinate matters to the answers.
template <class T>
class Waves final : public Model {
 public:
  explicit Waves(std::size_t inputs) {
    info_.name = "waves";
    info_.inputs = inputs;
    info_.outputs = 3;
    info_.scalar = sizeof(T) == 4 ? Scalar::float32 : Scalar::float64;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<T>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < rows.columns; ++j) {
          sum += std::sin(static_cast<double>((j + 2) * (k + 1))) * static_cast<double>(rows.row(i)[j]);
        }
        y.row(i)[k] = std::sin(sum);
      }
    }
  }

 private:
  ModelInfo info_;
};

Matrix<double> uniform_rows(std::size_t rows, std::size_t inputs) {
  Matrix<double> x(rows, inputs);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) {
      x.row(i)[j] = draw_uniform({.stream = Stream::uniform_data, .row = i}, j);
    }
  }
  return x;
}

std::vector<std::optional<double>> numbers(const Model& model, const Matrix<double>& x, GammaOptions options,
                                           std::size_t batch, std::size_t threads) {
  Run run{.seed = 5, .threads = threads, .ledger = Ledger(), .progress = {}, .stop = {}};
  options.batch = batch;
  std::vector<std::optional<double>> result;
  for (const GammaRow& row : gamma(model, x.view(), options, run).rows) {
    for (const auto& number : {row.value, row.gamma, row.low, row.high, row.split}) result.push_back(number);
    result.emplace_back(static_cast<double>(row.points));
  }
  return result;
}

void expect_one_result(const Model& model, const GammaOptions& options, const std::string& what) {
  const Matrix<double> x = uniform_rows(9, model.info().inputs);
  const auto expected = numbers(model, x, options, 1, 1);
  for (const std::size_t batch : {0, 2, 3, 5, 6, 7, 31, 4096}) {
    for (const std::size_t threads : {1, 2, 3}) {
      EXPECT_EQ(numbers(model, x, options, batch, threads), expected)
          << what << ", batch " << batch << ", threads " << threads;
    }
  }
}

TEST(BlackBox, BatchesAndThreadsDoNotChangeTheResult) {
  const Waves<double> wide(5);
  const Waves<float> narrow(5);
  for (const char* ball : {"simplex", "anti", "simplex+anti", "cross", "rotated:2", "rademacher", "random:7",
                           "random-pairs:6", "gaussian:6"}) {
    for (const Average average : {Average::surface, Average::solid}) {
      GammaOptions options;
      options.ball = parse_ball(ball);
      if (options.ball.kind == BallKind::gaussian && average == Average::solid) continue;
      options.ball.radius = 0.4;
      options.ball.average = average;
      expect_one_result(wide, options, ball);
      expect_one_result(narrow, options, ball);
    }
  }
}

TEST(BlackBox, BatchesAndThreadsDoNotChangeASample) {
  const Waves<double> model(40);
  GammaOptions options;
  options.ball.radius = 0.4;
  options.sample = 11;
  expect_one_result(model, options, "sample");
  options.sample = 0;
  options.precision = 0.3;
  options.floor = 1e-4;
  options.output.kind = OutputChoice::Kind::all;
  expect_one_result(model, options, "precision");
}

TEST(BlackBox, FixedWholeAndBoundedFeaturesDoNotDependOnTheBatch) {
  const Waves<double> model(6);
  GammaOptions options;
  options.schema.resize(6);
  options.schema[0].fixed = true;
  options.schema[2].integer = true;
  options.schema[3].lower = 0;
  options.schema[3].upper = 1;
  options.schema[4].scale = 3;
  for (const char* ball : {"simplex+anti", "cross", "random-pairs:6"}) {
    options.ball = parse_ball(ball);
    options.ball.radius = 0.7;
    expect_one_result(model, options, ball);
  }
}

// Answers NaN in output 1 where the second feature is above what any row has.
class Gap final : public Model {
 public:
  Gap() {
    info_.name = "gap";
    info_.inputs = 2;
    info_.outputs = 2;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      y.row(i)[0] = 0;
      y.row(i)[1] = rows.row(i)[1] > 10 ? std::numeric_limits<double>::quiet_NaN() : 1;
    }
  }

 private:
  ModelInfo info_;
};

TEST(BlackBox, AnAnswerThatIsNotFiniteIsNamed) {
  const Gap model;
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = 1;
  Matrix<double> x(20, 2);
  const auto message = [&](double second) {
    x.row(13)[1] = second;
    for (const std::size_t batch : {1, 4, 7, 1000}) {
      harmonia::Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
      options.batch = batch;
      try {
        gamma(model, x.view(), options, run);
        ADD_FAILURE() << "no error with batch " << batch;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::model);
        const std::string where = second > 10 ? "data row 13" : "a point of the ball around row 13";
        EXPECT_EQ(error.what(),
                  "model gap answered nan in output 1 for " + where + "; expected finite numbers");
      }
    }
  };
  message(9.5);
  message(10.5);
}

}  // namespace
}  // namespace harmonia
