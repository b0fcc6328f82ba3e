#include "harmonia/data/csv_source.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harmonia/core/random.hpp"
#include "support/read_table.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using test::kMissing;
using test::Names;
using test::Rows;
using test::Table;

// Reads the text in blocks of one, two and all rows, and again after rewind(): all must agree.
Table read_csv(const std::string& text, const DataOptions& options = {}) {
  const test::TemporaryFile file("rows.csv", text);
  const auto source = open_csv(file.path(), options);
  EXPECT_EQ(source->info().source, file.path());
  EXPECT_FALSE(source->info().rows.has_value());
  const Table table = test::read_table(*source, 1);
  for (const std::size_t limit : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    source->rewind();
    const Table again = test::read_table(*source, limit);
    EXPECT_EQ(again.rows, table.rows);
    EXPECT_EQ(again.ids, table.ids);
    EXPECT_EQ(again.labels, table.labels);
  }
  return table;
}

TEST(CsvSource, ReadsAHeaderAndRows) {
  const Table table = read_csv("age,income\n30,1.5\n40,-2e3\n");
  EXPECT_EQ(table.features, (Names{"age", "income"}));
  EXPECT_EQ(table.rows, (Rows{{30, 1.5}, {40, -2000}}));
  EXPECT_TRUE(table.ids.empty() && table.labels.empty());
}

TEST(CsvSource, ReadsRowsWithoutAHeader) {
  const Table table = read_csv("1,2\n3,4\n");
  EXPECT_EQ(table.features, (Names{"x0", "x1"}));
  EXPECT_EQ(table.rows, (Rows{{1, 2}, {3, 4}}));
}

TEST(CsvSource, TakesAnyLineEnd) {
  const Rows expected{{1, 2}, {3, 4}};
  for (const char* text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4",
        "\n\na,b\n\n1,2\n  \n3,4\n\n\n", "a,b\r\n\r\n1,2\r\n\r\n3,4\r\n\r\n",
        "\xef\xbb\xbf"
        "a,b\n1,2\n3,4\n"}) {
    const Table table = read_csv(text);
    EXPECT_EQ(table.features, (Names{"a", "b"})) << text;
    EXPECT_EQ(table.rows, expected) << text;
  }
}

TEST(CsvSource, FindsTheDelimiter) {
  for (const char* text :
       {"a,b,c\n1,2,3\n", "a;b;c\n1;2;3\n", "a\tb\tc\n1\t2\t3\n", "a;\"b,,,\";c\n1;2;3\n"}) {
    EXPECT_EQ(read_csv(text).rows, (Rows{{1, 2, 3}})) << text;
  }
  EXPECT_EQ(read_csv("1\n2\n").rows, (Rows{{1}, {2}}));
}

TEST(CsvSource, UndoesQuotes) {
  const Table table = read_csv("\"a \"\"b\"\"\",\"c,d\",\"e\nf\"\n \"1\" , 2 ,\" 3 \"\n", {});
  EXPECT_EQ(table.features, (Names{"a \"b\"", "c,d", "e\nf"}));
  EXPECT_EQ(table.rows, (Rows{{1, 2, 3}}));
  EXPECT_EQ(read_csv("n,v\n\"a\"\"\",1\n5\" pipe,2\n\"\"\"\",3\n", {.label = "n"}).labels,
            (Names{"a\"", "5\" pipe", "\""}));
}

TEST(CsvSource, KnowsMissingValues) {
  const Table table = read_csv("a,b\n,1\nnan,NaN\nNA,\"\"\n-nan,\n  , +1.5\n");
  EXPECT_EQ(
      table.rows,
      (Rows{
          {kMissing, 1}, {kMissing, kMissing}, {kMissing, kMissing}, {kMissing, kMissing}, {kMissing, 1.5}}));
}

TEST(CsvSource, AMissingValueMakesNoHeader) {
  EXPECT_EQ(read_csv("1,NA\n2,3\n").rows, (Rows{{1, kMissing}, {2, 3}}));
}

TEST(CsvSource, TooSmallANumberIsZero) {
  const Table table = read_csv("1e-999,-1e-999,0.000001e-330\n5e-324,1e-400,2\n");
  EXPECT_EQ(table.rows, (Rows{{0, 0, 0}, {5e-324, 0, 2}}));
  EXPECT_TRUE(std::signbit(table.rows[0][1]));
}

// Every double comes back from its shortest digits, bit for bit.
TEST(CsvSource, ReadsShortestDigitsBack) {
  std::string text;
  std::vector<double> expected;
  for (std::uint64_t i = 0; expected.size() < 20000; ++i) {
    const auto words = draw_words({.seed = 3, .row = i}, 0);
    const auto value = std::bit_cast<double>(std::uint64_t{words[0]} << 32U | words[1]);
    if (!std::isfinite(value)) continue;
    char digits[32];
    *std::to_chars(digits, digits + sizeof digits, value).ptr = '\0';
    text += std::string(digits) + "\n";
    expected.push_back(value);
  }
  const test::TemporaryFile file("rows.csv", text);
  const auto source = open_csv(file.path(), {});
  RowBlock block;
  ASSERT_TRUE(source->read(block, expected.size()));
  ASSERT_EQ(block.values.rows(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*block.values.row(i)), std::bit_cast<std::uint64_t>(expected[i]));
  }
}

// Records that lie across the end of the buffer, at every offset, with quotes and CR LF.
TEST(CsvSource, RecordsMayCrossTheBuffer) {
  const std::size_t buffer = std::size_t{256} << 10U;
  for (std::size_t shift = 0; shift < 24; ++shift) {
    std::string text = "name,v\r\n";
    text += fmt::format("\"{}\",1\r\n", std::string(buffer - text.size() - 18 + shift, 'z'));
    text += "\"a\"\"\r\nb\",2\r\n\"c\",3\r\n";
    const Table table = read_csv(text, {.id = "name"});
    ASSERT_EQ(table.rows, (Rows{{1}, {2}, {3}})) << shift;
    EXPECT_EQ(table.ids[1], "a\"\r\nb");
    EXPECT_EQ(table.ids[2], "c");
  }
}

TEST(CsvSource, ARecordMayBeLongerThanTheBuffer) {
  std::string header, row;
  for (int i = 0; i < 200000; ++i) {
    header += fmt::format("{}n{}", i == 0 ? "" : ",", i);
    row += fmt::format("{}{}", i == 0 ? "" : ",", i);
  }
  const Table table = read_csv(header + "\n" + row + "\n" + row + "\n");
  ASSERT_EQ(table.rows.size(), 2U);
  ASSERT_EQ(table.rows[1].size(), 200000U);
  EXPECT_EQ(table.rows[1][199999], 199999);
  EXPECT_EQ(table.features[199999], "n199999");
}

TEST(CsvSource, ChoosesColumns) {
  const std::string text = "name,a,b,c,class\nann,1,2,3,x\nbob,4,5,6,y z\n";
  Table table = read_csv(text, {.id = "name", .label = "class"});
  EXPECT_EQ(table.features, (Names{"a", "b", "c"}));
  EXPECT_EQ(table.rows, (Rows{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(table.ids, (Names{"ann", "bob"}));
  EXPECT_EQ(table.labels, (Names{"x", "y z"}));
  table = read_csv(text, {.columns = {"c", "1"}});
  EXPECT_EQ(table.features, (Names{"c", "a"}));
  EXPECT_EQ(table.rows, (Rows{{3, 1}, {6, 4}}));
  table = read_csv(text, {.drop = {"0", "b"}, .label = "4"});
  EXPECT_EQ(table.rows, (Rows{{1, 3}, {4, 6}}));
}

TEST(CsvSource, TextOutsideTheFeaturesMakesNoHeader) {
  const Table table = read_csv("ann,1,2\nbob,3,4\n", {.id = "0"});
  EXPECT_EQ(table.features, (Names{"x1", "x2"}));
  EXPECT_EQ(table.rows, (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(table.ids, (Names{"ann", "bob"}));
  EXPECT_EQ(read_csv("1,2,ann\n3,4,bob\n", {.columns = {"x1"}}).rows, (Rows{{2}, {4}}));
}

TEST(CsvSource, AColumnThatIsNamedMakesAHeader) {
  const Table table = read_csv("name,2019,2020\nann,1,2\n", {.id = "name"});
  EXPECT_EQ(table.features, (Names{"2019", "2020"}));
  EXPECT_EQ(table.rows, (Rows{{1, 2}}));
}

TEST(CsvSource, NamesAreLookedUpBeforeNumbers) {
  EXPECT_EQ(read_csv("a,0\n1,2\n", {.columns = {"0"}}).rows, (Rows{{2}}));
}

TEST(CsvSource, ColumnsWithoutANameAreNumbered) {
  EXPECT_EQ(read_csv(",a\n1,2\n").features, (Names{"x0", "a"}));
}

}  // namespace
}  // namespace harmonia
