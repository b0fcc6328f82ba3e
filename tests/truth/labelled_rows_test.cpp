#include "harmonia/data/labelled_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

Matrix<double> two_rows(double last) {
  Matrix<double> rows(2, 2);
  rows.row(0)[0] = 0.5;
  rows.row(0)[1] = -1;
  rows.row(1)[0] = 3;
  rows.row(1)[1] = last;
  return rows;
}

LabelledRows read(const Matrix<double>& rows, std::vector<std::string> labels) {
  return read_labelled(*make_memory_source(rows.view(), {}, {}, std::move(labels)));
}

TEST(LabelledRows, AreReadInSinglePrecision) {
  const LabelledRows all = read(two_rows(0.1), {"1", "0"});
  EXPECT_EQ(all.rows(), 2U);
  EXPECT_EQ(all.values.row(0)[1], -1.0F);
  EXPECT_EQ(all.values.row(1)[1], 0.1F);
  EXPECT_EQ(all.classes, (std::vector<std::int64_t>{1, 0}));
}

TEST(LabelledRows, RefuseWhatIsNoClass) {
  for (const char* label : {"", "cat", "-1", "1.5", "nan", "1e9"}) {
    test::expect_error(ErrorCode::input,
                       std::string("row 1 of memory has the label '") + label +
                           "'; expected the number of its class, 0, 1, …",
                       [&] {
                         read(two_rows(1), {"0", label});
                       });
  }
}

TEST(LabelledRows, RefuseWhatIsNoNumber) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 1e300})
    EXPECT_THROW(read(two_rows(bad), {"0", "1"}), Error);
}

TEST(LabelledRows, RefuseRowsWithoutLabels) {
  test::expect_error(ErrorCode::input,
                     "memory has no labels; name their column with --label, or their file with --labels",
                     [&] { read(two_rows(1), {}); });
}

}  // namespace
}  // namespace harmonia
