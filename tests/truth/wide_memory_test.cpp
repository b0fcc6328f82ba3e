#include "harmonia/core/wide_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace harmonia {
namespace {

TEST(WideMemory, IsThereToItsLastByteAndBeginsACacheLine) {
  for (const std::size_t bytes : {0UL, 1UL, 4096UL, (2UL << 20) - 1, 2UL << 20, (5UL << 20) + 3}) {
    const WideMemory memory = wide_memory(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0);
    std::memset(memory.get(), 1, bytes);
  }
}

}  // namespace
}  // namespace harmonia
