#include "harmonia/data/region.hpp"

#include <gtest/gtest.h>

#include <random>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/convex_hull.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

// The rows that are left, and their numbers.
struct Selected {
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> numbers;
};

Selected read_all(RowSource& source, std::size_t limit) {
  Selected all;
  RowBlock block;
  source.rewind();
  while (source.read(block, limit)) {
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      all.rows.emplace_back(block.values.row(i), block.values.row(i) + block.values.columns());
      all.numbers.push_back(block.number(i));
      EXPECT_EQ(block.place(block.number(i)), i);
    }
  }
  return all;
}

TEST(Region, BoxKeepsRowsAndTheirNumbers) {
  const auto source = open_data("grid:0..4x5,0..2x3", {.regions = {"box:1..2,0..1"}});
  EXPECT_FALSE(source->info().rows);
  for (const std::size_t limit : {1, 2, 4, 100}) {
    const Selected all = read_all(*source, limit);
    EXPECT_EQ(all.numbers, (std::vector<std::size_t>{3, 4, 6, 7})) << limit;
    EXPECT_EQ(all.rows[3], (std::vector<double>{2, 1}));
  }
}

TEST(Region, BoxByNameAndOpenEnds) {
  const test::TemporaryFile file("rows.csv", "name,age,height\na,20,1.5\nb,40,1.8\nc,,1.7\nd,70,1.6\n");
  const DataOptions by_name{.id = "name", .regions = {"box:age=30.."}};
  EXPECT_EQ(read_all(*open_data(file.path(), by_name), 9).numbers, (std::vector<std::size_t>{1, 3}));
  const DataOptions two{.id = "name", .regions = {"box:age=..50", "box:height=1.6..1.9"}};
  EXPECT_EQ(read_all(*open_data(file.path(), two), 9).numbers, (std::vector<std::size_t>{1}));
}

TEST(Region, Window) {
  const auto source = open_data("grid:0..9x10", {.window = "3..5"});
  EXPECT_EQ(source->info().rows, 3U);
  for (const std::size_t limit : {1, 4, 100})
    EXPECT_EQ(read_all(*source, limit).numbers, (std::vector<std::size_t>{3, 4, 5}));
  EXPECT_EQ(open_data("grid:0..9x10", {.window = "8.."})->info().rows, 2U);
  EXPECT_EQ(open_data("grid:0..9x10", {.window = "..3"})->info().rows, 4U);
  EXPECT_EQ(open_data("grid:0..9x10", {.window = "8..100"})->info().rows, 2U);
}

TEST(Region, HullOfAFile) {
  const test::TemporaryFile file("rows.csv", "class,b,a\nx,0,0\ny,0,4\nx,4,0\n");
  const DataOptions chosen{.regions = {"hull:" + file.path() + "?columns=a,b"}};
  EXPECT_EQ(read_all(*open_data("grid:0..4x5,0..4x5", chosen), 7).numbers.size(),
            15U);  // on or under the diagonal
  // Named data finds its columns by name.
  const test::TemporaryFile data("rows.csv", "a,b\n3,0.5\n0.5,3.6\n1,1\n");
  const test::TemporaryFile wide("rows.csv", "a,b,c\n0,0,9\n4,0,9\n0,2,9\n");
  const DataOptions named{.regions = {"hull:" + wide.path()}};
  EXPECT_EQ(read_all(*open_data(data.path(), named), 7).numbers, (std::vector<std::size_t>{0, 2}));
}

// Averages of a set's own points are inside of its hull, however degenerate the set: whole numbers, repeated
// points, points of a plane.
TEST(Region, AveragesAreInsideOfTheHull) {
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    std::mt19937_64 random(trial);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::size_t n = 1 + below(5), count = 3 + below(20), largest = std::size_t{2} << below(3);
    const bool flat = below(2) == 1;
    Matrix<double> points(count, n);
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += points.row(i)[j] = static_cast<double>(below(largest + 1));
      if (flat && n > 1) points.row(i)[n - 1] = sum - points.row(i)[n - 1];
    }
    const ConvexHull hull(points);
    for (int i = 0; i < 50; ++i) {
      std::vector<double> x(n, 0.0);
      for (int part = 0; part < 4; ++part) {
        const double* point = points.row(below(count));
        for (std::size_t j = 0; j < n; ++j) x[j] += point[j] / 4;
      }
      ASSERT_TRUE(hull.contains(x)) << "trial " << trial << ", point " << i;
    }
  }
}

// A row's draws are keyed by its number: what is left out changes nothing for the others.
TEST(Region, RowsMeasureTheSame) {
  GammaOptions options;
  options.ball = parse_ball("random-pairs:4");
  options.ball.radius = 0.1;
  const auto model = make_function_model("f4", 2);
  const auto measure = [&](const DataOptions& data) {
    std::vector<GammaRow> rows;
    harmonia::Run run;
    gamma(*model, *open_data("uniform:200", data), options, run,
          [&](const GammaRow& row) { rows.push_back(row); });
    return rows;
  };
  const std::vector<GammaRow> all = measure({}), some = measure({.regions = {"box:0..0.5,0.2..0.9"}});
  ASSERT_GT(some.size(), 40U);
  ASSERT_LT(some.size(), 110U);
  for (const GammaRow& row : some) EXPECT_EQ(row.gamma, all[row.row].gamma);
}

TEST(Region, WhatDoesNotFitIsSaid) {
  const auto open = [](const std::string& region) {
    return [region] { open_data("grid:0..1x3,0..1x3", {.regions = {region}}); };
  };
  test::expect_error(ErrorCode::usage,
                     "region 'box:0..1': 1 range for 2 features; expected one each, or NAME=LOW..HIGH",
                     open("box:0..1"));
  test::expect_error(ErrorCode::usage, "region 'box:1..0,0..1': '1..0' goes down; expected LOW <= HIGH",
                     open("box:1..0,0..1"));
  test::expect_error(ErrorCode::usage, "region 'box:a..1,0..1': 'a..1' is not LOW..HIGH",
                     open("box:a..1,0..1"));
  test::expect_error(ErrorCode::usage, "region 'box:z=0..1': 'z=0..1' names no feature; features are x0, x1",
                     open("box:z=0..1"));
  test::expect_error(ErrorCode::usage,
                     "region 'disk:1': expected box:LOW..HIGH,…, box:NAME=LOW..HIGH,… or hull:FILE",
                     open("disk:1"));
  test::expect_error(ErrorCode::usage, "--window '5..3'; expected FIRST..LAST, row numbers from 0",
                     [] { open_data("grid:0..1x3", {.window = "5..3"}); });
  test::expect_error(ErrorCode::input, "grid:0..1x3 has no row in --window 7..9 --region box:0..1", [] {
    RowBlock block;
    open_data("grid:0..1x3", {.regions = {"box:0..1"}, .window = "7..9"})->read(block, 5);
  });
  test::expect_error(ErrorCode::usage, "--jitter moves the points of a grid; uniform:5 is none",
                     [] { open_data("uniform:5", {.jitter = true}); });
  const test::TemporaryFile file("rows.csv", "1,2,3\n");
  test::expect_error(ErrorCode::input,
                     "hull of " + file.path() + ": 3 columns; the data has 2 features (?columns=A,B chooses)",
                     open("hull:" + file.path()));
}

TEST(Jitter, MovesEveryPointWithinItsCell) {
  const auto source = open_data("grid:-1..3x8,5..5x2,2..4x1", {.jitter = true, .seed = 3});
  EXPECT_TRUE(source->info().jittered);
  const Selected all = read_all(*source, 5);
  ASSERT_EQ(all.rows.size(), 16U);
  bool moved = false;
  for (std::size_t row = 0; row < 16; ++row) {
    const auto i = static_cast<double>(row / 2);
    EXPECT_GE(all.rows[row][0], -1 + i * 0.5);
    EXPECT_LE(all.rows[row][0], -1 + (i + 1) * 0.5);
    EXPECT_EQ(all.rows[row][0],
              -1 + 4 * (i + draw_uniform({.seed = 3, .stream = Stream::jitter, .row = row}, 0)) / 8);
    EXPECT_EQ(all.rows[row][1], 5);
    EXPECT_EQ(all.rows[row][2], 2);
    moved |= all.rows[row][0] != all.rows[row ^ 1U][0];
  }
  EXPECT_TRUE(moved);
}

}  // namespace
}  // namespace harmonia
