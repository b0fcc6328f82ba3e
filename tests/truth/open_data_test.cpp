#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "support/npy_bytes.hpp"
#include "support/read_table.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using test::Names;
using test::Rows;

TEST(OpenData, KnowsTheKinds) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "1,2\n";
  std::ofstream(folder / "A.CSV") << "1,2\n";
  std::ofstream(folder / "a.tsv") << "1\t2\n";
  std::ofstream(folder / "a.npy") << test::npy_bytes(test::npy_header("|u1", "(1, 2)"), "\1\2");
  for (const char* name : {"a.csv", "A.CSV", "a.tsv", "a.npy"}) {
    const auto source = open_data(folder / name, {});
    EXPECT_EQ(source->info().source, folder / name);
    EXPECT_EQ(test::read_table(*source, 9).rows, (Rows{{1, 2}})) << name;
  }
  EXPECT_EQ(open_data("grid:0..5x101,1..4x61", {})->info().rows, 6161U);
  EXPECT_EQ(open_data("uniform:1000", {})->info().rows, 1000U);
}

TEST(OpenData, GivesOneRow) {
  const test::TemporaryFile file("rows.csv", "name,a,b,class\nann,1,2,x\nbob,3,4,y\n");
  const auto source = open_data(file.path() + "#1", {.id = "name", .label = "class"});
  EXPECT_EQ(source->info().source, file.path() + "#1");
  EXPECT_EQ(source->info().rows, 1U);
  EXPECT_EQ(feature_names(source->info()), (Names{"a", "b"}));
  for (int round = 0; round < 2; ++round) {
    const test::Table table = test::read_table(*source, 3, 1);
    EXPECT_EQ(table.rows, (Rows{{3, 4}}));
    EXPECT_EQ(table.ids, (Names{"bob"}));
    EXPECT_EQ(table.labels, (Names{"y"}));
    source->rewind();
  }
  EXPECT_EQ(test::read_table(*open_data("grid:0..9999x10000#5000", {}), 9, 5000).rows, (Rows{{5000}}));
}

TEST(OpenData, AFileOfThatNameWins) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "rows.csv") << "1\n2\n";
  EXPECT_EQ(test::read_table(*open_data(folder / "rows.csv#1", {}), 9, 1).rows, (Rows{{2}}));
  std::ofstream(folder / "rows.csv#1") << "7\n8\n";
  EXPECT_EQ(test::read_table(*open_data(folder / "rows.csv#1", {}), 9).rows, (Rows{{7}, {8}}));
  std::ofstream(folder / "run#3.csv") << "5\n6\n";
  EXPECT_EQ(test::read_table(*open_data(folder / "run#3.csv", {}), 9).rows, (Rows{{5}, {6}}));
  EXPECT_EQ(test::read_table(*open_data(folder / "run#3.csv#1", {}), 9, 1).rows, (Rows{{6}}));
}

TEST(MemorySource, GivesTheRows) {
  Matrix<double> rows(3, 2);
  for (std::size_t i = 0; i < 6; ++i) rows.row(0)[i] = static_cast<double>(i);
  rows.row(1)[0] = std::numeric_limits<double>::quiet_NaN();
  const auto source = make_memory_source(rows.view(), {"a", "b"});
  EXPECT_EQ(source->info().rows, 3U);
  EXPECT_EQ(feature_names(source->info()), (Names{"a", "b"}));
  const Rows expected{{0, 1}, {test::kMissing, 3}, {4, 5}};
  for (const std::size_t limit : {1, 2, 3, 100}) {
    EXPECT_EQ(test::read_table(*source, limit).rows, expected);
    source->rewind();
  }
  EXPECT_EQ(feature_names(make_memory_source(rows.view())->info()), (Names{"x0", "x1"}));
}

TEST(MemorySource, CarriesIdsAndLabels) {
  Matrix<double> rows(3, 1);
  const auto source = make_memory_source(rows.view(), {}, {"a", "b", "c"}, {"x", "y", "z"});
  RowBlock block;
  ASSERT_TRUE(source->read(block, 2));
  EXPECT_EQ(block.ids, (Names{"a", "b"}));
  ASSERT_TRUE(source->read(block, 2));
  EXPECT_EQ(block.ids, (Names{"c"}));
  EXPECT_EQ(block.labels, (Names{"z"}));
}

}  // namespace
}  // namespace harmonia
