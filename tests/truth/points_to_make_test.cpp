// A model that makes its points itself is asked for the same points as one that is sent them.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <stop_token>
#include <thread>

#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/image_model.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kInputs = 12;

double wave(const double* x) {
  double sum = 0;
  for (std::size_t j = 0; j < kInputs; ++j) sum += std::sin(3 * x[j] + static_cast<double>(j)) * (x[j] + 0.1);
  return sum;
}

/// Makes points as a GPU does, and answers with a function of them.
template <class T>
class Maker final : public Model {
 public:
  explicit Maker(bool makes) : makes_(makes) {
    info_.name = "maker";
    info_.kind = "test";
    info_.inputs = kInputs;
    info_.outputs = 1;
    info_.scalar = std::is_same_v<T, float> ? Scalar::float32 : Scalar::float64;
    info_.preferred_batch = 37;
  }
  std::function<void()> before_answering;  // called for every batch of points to make
  std::function<void(const PointsToMake&)> asked;

  const ModelInfo& info() const override { return info_; }
  bool makes_points() const override { return makes_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) y.row(i)[0] = answer(x.as<T>().row(i));
  }

  void evaluate_made(const PointsToMake& points, MutableRowsView y) const override {
    if (before_answering) before_answering();
    if (asked) asked(points);
    EXPECT_EQ(points.points(), y.rows);
    EXPECT_EQ(points.first.size(), y.rows + 1);
    for (std::size_t i = 0; i < points.points(); ++i) {
      y.row(i)[0] = answer(point_of(points, i).data());
    }
  }

  static std::vector<T> point_of(const PointsToMake& points, std::size_t i) {
    const T* const base = points.bases.as<T>().row(points.base[i]);
    std::vector<T> point(base, base + kInputs);
    for (std::size_t k = points.first[i]; k < points.first[i + 1]; ++k)
      point[points.column[k]] = static_cast<T>(points.value[k]);
    return point;
  }

 private:
  static double answer(const T* x) {
    const std::vector<double> wide(x, x + kInputs);
    return wave(wide.data());
  }

  ModelInfo info_;
  bool makes_;
};

Matrix<double> rows_of(std::size_t count, double size) {
  Matrix<double> rows(count, kInputs);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < kInputs; ++j)
      rows.row(i)[j] = size * (0.5 + 0.5 * std::sin(static_cast<double>(5 * i + j)));
  return rows;
}

GammaOptions options_of(const char* ball, double radius = 0.3) {
  GammaOptions options;
  options.ball = parse_ball(ball);
  options.ball.radius = radius;
  options.output = parse_output("column:0");
  return options;
}

void expect_same(const Model& sent, const Model& made, const Matrix<double>& rows,
                 const GammaOptions& options, std::size_t threads) {
  harmonia::Run one, other;
  one.threads = other.threads = threads;
  const GammaResult a = gamma(sent, rows.view(), options, one), b = gamma(made, rows.view(), options, other);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  EXPECT_EQ(one.ledger.spent(), other.ledger.spent());
  double largest = 0;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(b.rows[i].row, i);
    EXPECT_EQ(*a.rows[i].gamma, *b.rows[i].gamma) << ball_name(options.ball) << " row " << i;
    largest = std::max(largest, *a.rows[i].gamma);
  }
  EXPECT_GT(largest, 1e-6) << ball_name(options.ball);
}

template <class T>
void expect_same_for_all_balls() {
  const Maker<T> sent(false), made(true);
  const Matrix<double> rows = rows_of(9, 1);
  for (const char* ball : {"simplex", "anti", "simplex+anti", "cross", "rotated:2", "rademacher",
                           "random-pairs:8", "gaussian:8"}) {
    for (const std::size_t threads : {1, 3}) {
      GammaOptions options = options_of(ball);
      expect_same(sent, made, rows, options, threads);
      options.batch = 5;
      expect_same(sent, made, rows, options, threads);
    }
  }
}

TEST(PointsToMake, EveryBallInDoubleAndFloat) {
  expect_same_for_all_balls<double>();
  expect_same_for_all_balls<float>();
}

// Every point comes with its mirror image, wherever batches end.
TEST(PointsToMake, PairsStayTogetherAroundTheirRow) {
  Maker<double> made(true);
  std::atomic<std::size_t> pairs = 0;
  made.asked = [&](const PointsToMake& points) {
    ASSERT_TRUE(points.paired);
    ASSERT_EQ(points.centre.size(), points.points());
    for (std::size_t i = 0; i < points.points(); ++i) {
      if (points.base[i] == points.centre[i] && points.first[i] == points.first[i + 1]) continue;  // a row
      ASSERT_LT(i + 1, points.points());
      ASSERT_EQ(points.centre[i + 1], points.centre[i]);
      const std::vector<double> plus = made.point_of(points, i), minus = made.point_of(points, i + 1);
      const double* const centre = points.bases.as<double>().row(points.centre[i]);
      for (std::size_t j = 0; j < kInputs; ++j) ASSERT_NEAR(plus[j] + minus[j], 2 * centre[j], 1e-12);
      ++pairs;
      ++i;
    }
  };
  for (const char* ball :
       {"simplex+anti", "cross", "rotated:2", "rademacher", "random-pairs:8", "gaussian:8"}) {
    for (const std::size_t batch : {0, 5, 300}) {
      GammaOptions options = options_of(ball);
      options.batch = batch;
      if (options.ball.kind == BallKind::cross) options.ball.average = Average::solid;
      harmonia::Run run;
      run.threads = 3;
      pairs = 0;
      gamma(made, rows_of(9, 1).view(), options, run);
      EXPECT_EQ(run.ledger.spent(), 9 + 2 * pairs) << ball;
    }
  }
}

TEST(PointsToMake, SampledAndUntilPrecise) {
  const Maker<double> sent(false), made(true);
  GammaOptions options = options_of("cross");
  options.sample = 5;
  expect_same(sent, made, rows_of(20, 1), options, 2);
  options.sample = 0;
  options.precision = 0.3;
  options.floor = 0.01;
  expect_same(sent, made, rows_of(20, 1), options, 2);
}

// More rows than are read at once, so that waves under way are of two blocks.
TEST(PointsToMake, SeveralBlocks) {
  const Maker<float> sent(false), made(true);
  GammaOptions options = options_of("cross");
  options.sample = 1;
  expect_same(sent, made, rows_of(rows_per_block(kInputs) + 3000, 1), options, 3);
}

// Waves that are under way when one of them fails, or the run is to stop, end before gamma() does.
TEST(PointsToMake, AFailureAndAStopWhileOthersAreUnderWay) {
  const Matrix<double> rows = rows_of(400, 1);
  for (const bool fails : {true, false}) {
    Maker<double> made(true);
    harmonia::Run run;
    run.threads = 3;
    std::stop_source stop;
    run.stop = stop.get_token();
    std::atomic<int> calls = 0, inside = 0;
    made.before_answering = [&] {
      ++inside;
      if (++calls == 7 && fails) {
        --inside;
        throw Error(ErrorCode::model, "no answer");
      }
      if (calls == 7) stop.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
    };
    test::expect_error(fails ? ErrorCode::model : ErrorCode::interrupted, fails ? "no answer" : "stopped",
                       [&] { gamma(made, rows.view(), options_of("cross"), run); });
    EXPECT_EQ(inside, 0);
    const int then = calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(calls, then);
  }
}

TEST(PointsToMake, ARunThatGoesOn) {
  const Maker<double> made(true);
  const Matrix<double> rows = rows_of(40, 1);
  const GammaOptions options = options_of("cross");
  harmonia::Run whole, rest;
  whole.threads = rest.threads = 3;
  const std::vector<GammaRow> all = gamma(made, rows.view(), options, whole).rows;
  std::vector<GammaRow> joined(all.begin(), all.begin() + 15);
  const auto data = make_memory_source(rows.view());
  gamma(made, *data, options, rest, [&](const GammaRow& row) { joined.push_back(row); },
        {all.begin(), all.begin() + 15});
  ASSERT_EQ(joined.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(joined[i].row, i);
    EXPECT_EQ(*joined[i].gamma, *all[i].gamma);
  }
  EXPECT_EQ(rest.ledger.spent(), whole.ledger.spent());
}

TEST(PointsToMake, FeaturesWithBoundsAndScales) {
  const Maker<double> sent(false), made(true);
  GammaOptions options = options_of("simplex+anti");
  options.schema.resize(kInputs);
  for (std::size_t j = 0; j < kInputs; ++j) {
    options.schema[j].scale = 1 + 0.1 * static_cast<double>(j);
    options.schema[j].fixed = j % 5 == 4;
    if (j % 3 == 0) {
      options.schema[j].lower = 0;
      options.schema[j].upper = 1;
    }
  }
  expect_same(sent, made, rows_of(9, 1), options, 1);
}

// Pixels and patches, through a description that orders and scales channels.
TEST(PointsToMake, Images) {
  for (const char* entries : {R"("channels": "bgr", "mean": [0.4, 0, 0.1], "std": [1, 2, 0.5])",
                              R"("channels": "rgb", "layout": "nhwc", "range": [-1, 1])",
                              R"("channels": "rgb", "measure": "grey", "mean": [0, 0.2, 0])"}) {
    const ImageDescription d =
        read_image_description(std::string(R"({"height": 2, "width": 2, )") + entries + "}", "d.json");
    const auto sent = make_image_model(std::make_unique<Maker<float>>(false), d, "d.json"),
               made = make_image_model(std::make_unique<Maker<float>>(true), d, "d.json");
    Matrix<double> rows(5, sent->info().inputs);
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < rows.columns(); ++j)
        rows.row(i)[j] = static_cast<double>((53 * j + 20 + 7 * i) % 256);
    for (const char* ball : {"pixel", "patch:2", "cross"}) {
      GammaOptions options = options_of(ball, 40);
      options.ball.image = d.shape;
      expect_same(*sent, *made, rows, options, 2);
    }
  }
}

}  // namespace
}  // namespace harmonia
