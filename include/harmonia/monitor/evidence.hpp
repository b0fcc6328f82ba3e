#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harmonia/monitor/value_bins.hpp"

namespace harmonia {

/// Ranks of numbers that come one at a time among a reference sample and all that came before. If reference
/// and stream are exchangeable, the ranks are independent and uniform on [0, 1], exactly, for a reference of
/// any size [Vovk 2005, section 8.2]: the reference is itself a sample, and this knows it.
class ConformalRanks {
 public:
  explicit ConformalRanks(const BinCounts& reference);
  /// The share of larger numbers, ties broken by `uniform`, a draw from [0, 1); the number then belongs to
  /// the sample. Small ranks: it is larger than most.
  double add(std::uint32_t bin, double uniform);
  /// What was added, the reference left out.
  const BinCounts& added() const { return added_; }
  /// Puts back what was added() before.
  void restore(const BinCounts& added);

 private:
  std::uint64_t below(std::uint32_t bin) const;
  void count(std::uint32_t bin, std::uint64_t times);

  BinCounts reference_, added_;
  std::vector<std::uint64_t> tree_;  // sums over blocks of bins [Fenwick 1994]
  std::uint64_t total_ = 0;
};

/// What a bet against uniform ranks looks for.
enum class Change {
  larger,   ///< gamma became larger
  smaller,  ///< gamma became smaller
  slow,     ///< it moves a little, for long, up or down
  shape,    ///< its distribution became another, in whatever way
};
constexpr std::size_t kChanges = 4;

/// How much money bets against uniform ranks have made of 1. Under exchangeability it reaches 1/a, at any
/// time whatever, with probability <= a [Ville 1939]. A bet of every kind begins at every row k, with a part
/// of the money that sinks like 1/(k log²k), so that a change late in the stream is found too: the sum over
/// starts is CUSUM's maximum [Page 1954] made into a martingale, which has a false-alarm probability for
/// streams without end instead of a run length.
class Evidence {
 public:
  Evidence();
  /// Enters the next rank, that of row number `row`.
  void add(double rank, std::uint64_t row);
  /// Natural logarithm of the money.
  double log_value() const;
  /// The kind of the bet that earned most.
  Change change() const;
  /// The row from which on that bet earned most, as CUSUM says: since when there seems to be a change.
  std::uint64_t since() const;
  /// Ranks entered.
  std::uint64_t count() const { return count_; }

  /// All that it knows, finite numbers, to be stored and put back: the same numbers, the same later ones.
  std::vector<double> save() const;
  /// Throws Error(input) for what another version saved.
  void restore(const std::vector<double>& saved);

 private:
  struct Bet {
    double money;         // of all starts together, log; it does not know of its share yet
    double earned;        // since the start that earned most, log
    std::uint64_t since;  // the row of that start
  };
  std::size_t best_bet() const;

  std::uint64_t count_ = 0;
  std::vector<Bet> bets_;
  std::vector<double> histograms_;  // of the last ranks, for bets on shape, one after another
};

}  // namespace harmonia
