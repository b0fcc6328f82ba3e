#include "../../src/model/batch_tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace harmonia {
namespace {

// Where a search ends if a point takes so long in calls of a size, and the largest size on the way.
struct Found {
  std::size_t size = 0, largest = 0;
};
Found search(std::size_t start, std::size_t most, const std::function<double(std::size_t)>& seconds) {
  BatchTuner tuner(start, most);
  Found found;
  for (int wave = 0; wave < 200; ++wave) {
    found.size = tuner.size();
    found.largest = std::max(found.largest, found.size);
    tuner.took(seconds(found.size), seconds(found.size) * static_cast<double>(found.size));
  }
  return found;
}

TEST(BatchTuner, GrowsWhereCallsCost) {
  // 50 us a call and 1 us a point: doubling 512 would save 4.5 %, doubling 1024 less than 3 %.
  const auto found =
      search(64, 4096, [](std::size_t size) { return 1e-6 + 50e-6 / static_cast<double>(size); });
  EXPECT_EQ(found.size, 1024U);
}

TEST(BatchTuner, ShrinksWherePointsCostMoreInLargeBatches) {
  const auto found =
      search(64, 1024, [](std::size_t size) { return 1e-6 * (size > 8 ? static_cast<double>(size) : 8.0); });
  EXPECT_EQ(found.size, 8U);
}

TEST(BatchTuner, StaysWhereSizesAreAlike) {
  EXPECT_EQ(search(64, 1024, [](std::size_t) { return 2e-6; }).size, 64U);
  EXPECT_EQ(search(1, 1, [](std::size_t) { return 2e-6; }).size, 1U);
}

TEST(BatchTuner, KeepsToItsMost) {
  const auto found = search(64, 300, [](std::size_t size) { return 1.0 / static_cast<double>(size); });
  EXPECT_EQ(found.largest, 64U);  // such calls are long already
  const auto quick = search(64, 300, [](std::size_t size) { return 1e-6 / static_cast<double>(size); });
  EXPECT_EQ(quick.size, 256U);
  EXPECT_EQ(quick.largest, 256U);
}

TEST(BatchTuner, MakesNoCallLongerThanATenthOfASecond) {
  // 10 ms a point and 10 ms a call: larger is better, and 8 points are 90 ms.
  const auto found =
      search(2, 1024, [](std::size_t size) { return 10e-3 + 10e-3 / static_cast<double>(size); });
  EXPECT_LE(found.largest, 8U);
  EXPECT_GE(found.size, 4U);
}

}  // namespace
}  // namespace harmonia
