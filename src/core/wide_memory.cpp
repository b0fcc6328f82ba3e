#include "harmonia/core/wide_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace harmonia {

WideMemory wide_memory(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20, kCacheLine = 64;
  const std::size_t unit = bytes < kPage ? kCacheLine : kPage;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + kCacheLine - 1) / kCacheLine * kCacheLine;
  void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  // Whole large pages alone, so that no more of it comes to be used. Where there are none, nothing is lost.
  if (unit == kPage) madvise(memory, size / kPage * kPage, MADV_HUGEPAGE);
  return {memory, &std::free};
}

}  // namespace harmonia
