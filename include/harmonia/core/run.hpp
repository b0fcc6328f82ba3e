#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>

namespace harmonia {

/// Counts model evaluations (rows given to a model) and says how many are left.
class Ledger {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  explicit Ledger(std::uint64_t limit = kUnlimited) : limit_(limit) {}
  void spend(std::uint64_t evaluations) { spent_ += evaluations; }
  std::uint64_t spent() const { return spent_; }
  std::uint64_t left() const {
    return limit_ == kUnlimited ? kUnlimited : limit_ - std::min(limit_, spent());
  }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> spent_ = 0;
};

/// How far a run has come.
struct Progress {
  std::size_t rows_done = 0;
  std::optional<std::size_t> rows;  ///< if known
  std::uint64_t evaluations = 0;
};

/// What a measure needs besides its options: where its draws start, how much it may use, who watches it.
struct Run {
  std::uint64_t seed = 1;
  std::size_t threads = 0;  ///< 0: as many as suit the model
  Ledger ledger;            ///< every evaluation is entered here
  std::function<void(const Progress&)>
      progress;          ///< called now and then from the calling thread; may be empty
  std::stop_token stop;  ///< when asked, the measure throws Error(interrupted)
};

}  // namespace harmonia
