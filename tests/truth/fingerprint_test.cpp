#include "../../src/measure/fingerprint.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace harmonia {
namespace {

TEST(Fingerprint, IsFnv1aOverWholeWords) {
  EXPECT_EQ(fingerprint({}), 14695981039346656037U);
  const std::vector<double> x{0.0};  // its bits are 0
  EXPECT_EQ(fingerprint(x), 14695981039346656037U * 1099511628211U);
}

TEST(Fingerprint, IsThatOfTheRowAloneHoweverManyAreMadeTogether) {
  Matrix<double> rows(11, 5);
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t j = 0; j < rows.columns(); ++j)
      rows.row(i)[j] = static_cast<double>(i) - 0.25 * static_cast<double>(j * j);
  const MatrixView<const double> view = rows.view();
  for (std::size_t count = 0; count <= rows.rows(); ++count) {
    std::vector<std::uint64_t> found(count);
    fingerprints(view.slice(0, count), found);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(found[i], fingerprint({view.row(i), view.columns})) << "row " << i << " of " << count;
  }
}

}  // namespace
}  // namespace harmonia
