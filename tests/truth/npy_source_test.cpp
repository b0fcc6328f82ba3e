#include "harmonia/data/npy_source.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/npy_bytes.hpp"
#include "support/read_table.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using test::kMissing;
using test::Names;
using test::npy_bytes;
using test::npy_header;
using test::raw_bytes;
using test::Rows;
using test::Table;

// Reads in blocks of one, two and all rows: all must agree.
Table read_npy(const std::string& bytes, const DataOptions& options = {}) {
  const test::TemporaryFile file("rows.npy", bytes);
  const auto source = open_npy(file.path(), options);
  const Table table = test::read_table(*source, 1);
  EXPECT_EQ(source->info().rows, table.rows.size());
  for (const std::size_t limit : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    source->rewind();
    const Table again = test::read_table(*source, limit);
    EXPECT_EQ(again.rows, table.rows);
    EXPECT_EQ(again.ids, table.ids);
    EXPECT_EQ(again.labels, table.labels);
  }
  return table;
}

// Six numbers as 3 × 2, in both byte orders and both array orders.
template <class T>
void expect_type(const std::string& code, const std::vector<T>& raw, const std::vector<double>& values) {
  ASSERT_EQ(raw.size(), 6U);
  const Rows by_rows{{values[0], values[1]}, {values[2], values[3]}, {values[4], values[5]}};
  const Rows by_columns{{values[0], values[3]}, {values[1], values[4]}, {values[2], values[5]}};
  for (const char order : {'<', '>'}) {
    const std::string descr = order + code;
    EXPECT_EQ(read_npy(npy_bytes(npy_header(descr, "(3, 2)"), raw_bytes(raw, order))).rows, by_rows) << descr;
    EXPECT_EQ(read_npy(npy_bytes(npy_header(descr, "(3, 2)", true), raw_bytes(raw, order))).rows, by_columns)
        << descr;
  }
}

TEST(NpySource, ReadsEveryType) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_type<double>("f8", {0.1, -2, 1e308, nan, 5e-324, 6}, {0.1, -2, 1e308, kMissing, 5e-324, 6});
  expect_type<float>("f4", {0.1F, -2, 1e38F, std::numeric_limits<float>::quiet_NaN(), 1e-45F, 6},
                     {double{0.1F}, -2, double{1e38F}, kMissing, double{1e-45F}, 6});
  // 1, −2, the largest, the smallest, NaN and the nearest to 0.1 in binary16.
  expect_type<std::uint16_t>("f2", {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7e00, 0x2e66},
                             {1, -2, 65504, 0x1p-24, kMissing, 0.0999755859375});
  expect_type<std::int8_t>("i1", {0, 1, -1, 127, -128, 5}, {0, 1, -1, 127, -128, 5});
  expect_type<std::int16_t>("i2", {0, 1, -1, 32767, -32768, 5}, {0, 1, -1, 32767, -32768, 5});
  expect_type<std::int32_t>("i4", {0, 1, -1, 2147483647, -2147483647 - 1, 5},
                            {0, 1, -1, 2147483647, -2147483648.0, 5});
  const std::int64_t exact = std::int64_t{1} << 53U;
  expect_type<std::int64_t>("i8", {0, -1, exact, -exact, std::numeric_limits<std::int64_t>::min(), 3 * exact},
                            {0, -1, 0x1p53, -0x1p53, -0x1p63, 0x3p53});
  expect_type<std::uint8_t>("u1", {0, 1, 2, 127, 128, 255}, {0, 1, 2, 127, 128, 255});
  expect_type<std::uint16_t>("u2", {0, 1, 2, 32768, 65535, 5}, {0, 1, 2, 32768, 65535, 5});
  expect_type<std::uint32_t>("u4", {0, 1, 2, 2147483648U, 4294967295U, 5},
                             {0, 1, 2, 2147483648.0, 4294967295.0, 5});
  expect_type<std::uint64_t>("u8", {0, 1, 1ULL << 53U, 1ULL << 63U, 3, 5}, {0, 1, 0x1p53, 0x1p63, 3, 5});
  expect_type<std::uint8_t>("b1", {0, 1, 1, 0, 0, 1}, {0, 1, 1, 0, 0, 1});
}

TEST(NpySource, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(
        read_npy(npy_bytes(npy_header("<i4", "(2, 1)"), raw_bytes<std::int32_t>({7, 8}, '<'), version)).rows,
        (Rows{{7}, {8}}));
  }
}

TEST(NpySource, TakesTheHeaderAsPythonWritesIt) {
  const std::string data("\1\2", 2);
  for (const char* header : {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }",
                             "{'descr': '|u1', 'fortran_order': False, 'shape': (2L,)}",
                             "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"u1\"}        "}) {
    EXPECT_EQ(read_npy(npy_bytes(header, data)).rows, (Rows{{1}, {2}})) << header;
  }
}

TEST(NpySource, FlattensWhatHasMoreDimensions) {
  const std::string data("\0\1\2\3\4\5\6\7", 8);
  EXPECT_EQ(read_npy(npy_bytes(npy_header("|u1", "(2, 2, 2)"), data)).rows,
            (Rows{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(NpySource, ChoosesColumns) {
  const std::string c_order =
      npy_bytes(npy_header("<f4", "(2, 4)"), raw_bytes<float>({0.1F, 1, 2, 3, 4, 5, 6, 7}, '<'));
  const std::string fortran =
      npy_bytes(npy_header("<f4", "(2, 4)", true), raw_bytes<float>({0.1F, 4, 1, 5, 2, 6, 3, 7}, '<'));
  for (const std::string& bytes : {c_order, fortran}) {
    const Table table = read_npy(bytes, {.columns = {"3", "x1"}, .id = "0", .label = "2"});
    EXPECT_EQ(table.features, (Names{"x3", "x1"}));
    EXPECT_EQ(table.rows, (Rows{{3, 1}, {7, 5}}));
    EXPECT_EQ(table.ids, (Names{"0.1", "4"}));
    EXPECT_EQ(table.labels, (Names{"2", "6"}));
    EXPECT_EQ(read_npy(bytes, {.drop = {"0", "2"}}).rows, (Rows{{1, 3}, {5, 7}}));
  }
}

TEST(NpySource, LongIdsKeepTheirDigits) {
  const std::string bytes =
      npy_bytes(npy_header("<i8", "(1, 2)"), raw_bytes<std::int64_t>({9007199254740993, 1}, '<'));
  const Table table = read_npy(bytes, {.id = "0"});
  EXPECT_EQ(table.ids, (Names{"9007199254740993"}));
  EXPECT_EQ(table.rows, (Rows{{1}}));
}

// More than the pieces that are read at once, so that they are put together.
TEST(NpySource, ReadsLongFiles) {
  std::vector<std::int32_t> numbers(3 * 300000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  for (const bool fortran_order : {false, true}) {
    const test::TemporaryFile file(
        "rows.npy", npy_bytes(npy_header("<i4", "(300000, 3)", fortran_order), raw_bytes(numbers, '<')));
    const auto source = open_npy(file.path(), {});
    RowBlock block;
    ASSERT_TRUE(source->read(block, 299999));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        wrong += block.values.row(i)[j] != static_cast<double>(fortran_order ? j * 300000 + i : 3 * i + j);
      }
    }
    EXPECT_EQ(wrong, 0U);
    ASSERT_TRUE(source->read(block, 299999));
    EXPECT_EQ(block.first, 299999U);
    EXPECT_EQ(block.values.rows(), 1U);
    EXPECT_EQ(block.values.row(0)[2], 899999);
  }
}

}  // namespace
}  // namespace harmonia
