#include <gtest/gtest.h>

#include <limits>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

void expect_usage(const std::string& spec, const std::string& message, const DataOptions& options = {}) {
  test::expect_error(ErrorCode::usage, message, [&] { open_data(spec, options); });
}

TEST(OpenDataFault, UnknownKinds) {
  const std::string known =
      "is of no known kind; known are FILE.csv, FILE.tsv, FILE.npy, grid:LOW..HIGHxCOUNT,…, uniform:COUNT, "
      "IMAGE.png, IMAGE.jpg, IMAGE.jpeg, images-idx3-ubyte, a folder of images";
  expect_usage("rows.xlsx", "data 'rows.xlsx' " + known);
  expect_usage("rows", "data 'rows' " + known);
  expect_usage("", "data '' " + known);
  expect_usage("rows.xlsx#3", "data 'rows.xlsx#3' " + known);
  expect_usage("gird:0..1x2", "data 'gird:0..1x2' " + known);
}

TEST(OpenDataFault, RowsThatAreNotThere) {
  const test::TemporaryFile file("rows.csv", "a\n1\n2\n3\n");
  expect_usage(file.path() + "#3", file.path() + " has 3 rows; there is no row 3 (rows count from 0)");
  expect_usage("uniform:1#1", "uniform:1 has 1 row; there is no row 1 (rows count from 0)");
  expect_usage("grid:0..1x2#2", "grid:0..1x2 has 2 rows; there is no row 2 (rows count from 0)");
  for (const std::string text : {"x", "", "-1", "1.5", "99999999999999999999999"}) {
    expect_usage(file.path() + "#" + text,
                 file.path() + "#" + text + ": '" + text + "' after # is not a row number");
  }
  test::expect_error(ErrorCode::input, file.path() + "#b.csv: no such file",
                     [&] { open_data(file.path() + "#b.csv", {}); });
  expect_usage("uniform:9#b.csv", "uniform:9#b.csv: 'b.csv' after # is not a row number");
}

TEST(GridFault, Axes) {
  for (const std::string axis : {"", "0..5", "0x5", "a..5x2", "0..bx2", "0..5x", "0..5x-1", "0..5x1.5",
                                 "0..5x2x", "..x2", "nan..1x2", "0..infx2", "0..1e999x2", "5x2..0"}) {
    expect_usage("grid:" + axis, "grid:" + axis + ": axis '" + axis + "' is not LOW..HIGHxCOUNT");
  }
  expect_usage("grid:0..1x2,", "grid:0..1x2,: axis '' is not LOW..HIGHxCOUNT");
  expect_usage("grid:0..5x0", "grid:0..5x0: axis '0..5x0' has count 0; expected at least 1");
  expect_usage("grid:0..1x2,5..0x3", "grid:0..1x2,5..0x3: axis '5..0x3' goes down; expected 5 <= 0");
  expect_usage("grid:-1e308..1e308x3",
               "grid:-1e308..1e308x3: axis '-1e308..1e308x3' is too long for doubles");
  expect_usage("grid:0..1x4294967296,0..1x4294967296",
               "grid:0..1x4294967296,0..1x4294967296: the grid has more rows than can be counted");
}

TEST(UniformFault, Counts) {
  for (const std::string count : {"", "0", "-1", "1.5", "ten", "4294967297", "99999999999999999999999"}) {
    expect_usage("uniform:" + count,
                 "uniform:" + count + ": '" + count + "' is not a number of rows; expected 1 to 4294967296");
  }
  expect_usage("uniform:1", "uniform:1: 16777217 columns; expected at most 16777216",
               {.inputs = (1U << 24U) + 1});
}

TEST(GeneratedFault, HasNoColumnsToChoose) {
  const std::string message =
      ": generated data has no columns to choose; --columns, --drop, --id and --label are for files";
  expect_usage("grid:0..1x2", "grid:0..1x2" + message, {.columns = {"0"}});
  expect_usage("grid:0..1x2", "grid:0..1x2" + message, {.drop = {"0"}});
  expect_usage("uniform:5", "uniform:5" + message, {.id = "0"});
  expect_usage("uniform:5", "uniform:5" + message, {.label = "0"});
}

TEST(MemoryFault, Shapes) {
  Matrix<double> rows(2, 2);
  test::expect_error(ErrorCode::usage, "rows in memory are 0 × 2; expected at least 1 × 1",
                     [&] { make_memory_source(rows.view().slice(0, 0)); });
  test::expect_error(ErrorCode::usage, "rows in memory: 3 names for 2 columns", [&] {
    make_memory_source(rows.view(), {"a", "b", "c"});
  });
  test::expect_error(ErrorCode::usage, "rows in memory: 1 id for 2 rows",
                     [&] { make_memory_source(rows.view(), {}, {"a"}); });
  rows.row(1)[0] = -std::numeric_limits<double>::infinity();
  const auto source = make_memory_source(rows.view());
  RowBlock block;
  ASSERT_TRUE(source->read(block, 1));
  test::expect_error(ErrorCode::input, "memory row 1, column 0 (x0) is infinite",
                     [&] { source->read(block, 1); });
}

}  // namespace
}  // namespace harmonia
