#include "harmonia/data/generated_source.hpp"

#include <gtest/gtest.h>

#include "harmonia/core/random.hpp"
#include "support/read_table.hpp"

namespace harmonia {
namespace {

using test::Names;
using test::Rows;

TEST(Grid, LastAxisIsFastest) {
  const auto source = open_grid("grid:0..5x2,1..4x3", {});
  EXPECT_EQ(source->info().rows, 6U);
  EXPECT_EQ(feature_names(source->info()), (Names{"x0", "x1"}));
  const Rows expected{{0, 1}, {0, 2.5}, {0, 4}, {5, 1}, {5, 2.5}, {5, 4}};
  EXPECT_EQ(test::read_table(*source, 4).rows, expected);
  source->rewind();
  EXPECT_EQ(test::read_table(*source, 1).rows, expected);
}

TEST(Grid, StepsAreTheNearestDoubles) {
  const auto source = open_grid("grid:0..5x101", {});
  const Rows rows = test::read_table(*source, 1000).rows;
  ASSERT_EQ(rows.size(), 101U);
  for (std::size_t i = 0; i <= 100; ++i) EXPECT_EQ(rows[i][0], static_cast<double>(i) / 20);
}

TEST(Grid, AxesAreWrittenInManyWays) {
  EXPECT_EQ(test::read_table(*open_grid("grid:-1.5...5x3", {}), 9).rows, (Rows{{-1.5}, {-0.5}, {0.5}}));
  EXPECT_EQ(test::read_table(*open_grid("grid:1e-1..+2x2", {}), 9).rows, (Rows{{0.1}, {2}}));
  EXPECT_EQ(test::read_table(*open_grid("grid:3..7x1", {}), 9).rows, (Rows{{3}}));
  EXPECT_EQ(test::read_table(*open_grid("grid:3..3x2", {}), 9).rows, (Rows{{3}, {3}}));
}

TEST(Uniform, RowsAreKeyed) {
  const auto source = open_uniform("uniform:5", {.inputs = 3, .seed = 9});
  EXPECT_EQ(source->info().rows, 5U);
  EXPECT_EQ(feature_names(source->info()), (Names{"x0", "x1", "x2"}));
  const Rows rows = test::read_table(*source, 2).rows;
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(rows[i][j], draw_uniform({.seed = 9, .stream = Stream::uniform_data, .row = i}, j));
    }
  }
  EXPECT_EQ(open_uniform("uniform:1", {})->info().inputs, 2U);
}

}  // namespace
}  // namespace harmonia
