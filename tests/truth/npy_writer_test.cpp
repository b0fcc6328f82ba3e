#include "harmonia/data/npy_writer.hpp"

#include <gtest/gtest.h>

#include "harmonia/data/npy_source.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

template <class T>
void expect_read_again() {
  NpyWriter<T> writer(3);
  const std::vector<T> first{1, T{-2.5}, static_cast<T>(1e-30)};
  writer.add(first.data());
  for (const T number : {T{4}, T{5}, T{6}}) writer.add(number);
  const std::string bytes = writer.bytes();
  EXPECT_EQ((bytes.size() - 6 * sizeof(T)) % 64, 0U);
  const test::TemporaryFile file("rows.npy", bytes);
  const auto rows = open_npy(file.path(), {});
  RowBlock block;
  ASSERT_TRUE(rows->read(block, 10));
  ASSERT_EQ(block.values.rows(), 2U);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(static_cast<T>(block.values.row(0)[j]), first[j]);
  EXPECT_EQ(block.values.row(1)[2], 6);
}

TEST(NpyWriter, WritesWhatIsReadAgain) {
  expect_read_again<float>();
  expect_read_again<double>();
}

}  // namespace
}  // namespace harmonia
