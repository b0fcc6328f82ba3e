#include "tree_ball_sums.hpp"

#include <bit>
#include <cstring>

namespace harmonia {

// 64 as bits of a word: one branch that is hard to foretell instead of eight.
void TreeBallSums::take_marked(std::size_t row, std::vector<std::size_t>& marked) {
  constexpr std::uint64_t kGather =
      0x0102040810204080;  // times eight bytes 0 or 1: they are the highest bits
  unsigned char* const marks = this->marks(row);
  marked.resize(columns_);
  std::size_t* to = marked.data();
  for (std::size_t first = 0; first < columns_; first += 64) {
    const std::size_t count = std::min<std::size_t>(64, columns_ - first);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, marks + first + i, 8);
      bits |= (eight * kGather >> 56) << i;
    }
    for (; bits != 0; bits &= bits - 1) *to++ = first + static_cast<std::size_t>(std::countr_zero(bits));
  }
  marked.resize(static_cast<std::size_t>(to - marked.data()));
  std::fill_n(marks, columns_, static_cast<unsigned char>(0));
}

}  // namespace harmonia
