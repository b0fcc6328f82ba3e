#include "harmonia/monitor/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

/// A density on [0, 1], by which a bet pays. With x = 1 - 2 rank, which is 1 for the largest numbers:
enum class Form {
  power,      ///< s rank^(s - 1): small ranks; exact for exponential numbers that became 1/s times larger
  mirrored,   ///< the same for large ranks
  linear,     ///< 1 + s x: small ranks, or large ones for s < 0
  quadratic,  ///< 1 + s (3x² - 1) / 2: both ends, or the middle for s < 0
};

struct Wager {
  Change change;
  Form form;
  double strength;  // s
  double share;     // of the money
};

// A strong bet earns fast on a large change and loses on a small one. The kinds of change have equal shares.
constexpr std::array kFixedWagers{
    Wager{Change::larger, Form::power, 0.5, 1.0 / 16},
    Wager{Change::larger, Form::power, 0.75, 1.0 / 16},
    Wager{Change::larger, Form::power, 0.9, 1.0 / 16},
    Wager{Change::larger, Form::linear, 0.6, 1.0 / 16},
    Wager{Change::smaller, Form::mirrored, 0.5, 1.0 / 16},
    Wager{Change::smaller, Form::mirrored, 0.75, 1.0 / 16},
    Wager{Change::smaller, Form::mirrored, 0.9, 1.0 / 16},
    Wager{Change::smaller, Form::linear, -0.6, 1.0 / 16},
    Wager{Change::slow, Form::linear, 0.25, 1.0 / 16},
    Wager{Change::slow, Form::linear, -0.25, 1.0 / 16},
    Wager{Change::slow, Form::linear, 0.1, 1.0 / 16},
    Wager{Change::slow, Form::linear, -0.1, 1.0 / 16},
    Wager{Change::shape, Form::quadratic, 0.8, 1.0 / 16},
    Wager{Change::shape, Form::quadratic, -0.8, 1.0 / 16},
};
// The other bets on shape pay by the histogram of the last ranks, about so many of them. It forgets, because
// ranks from before a change say nothing about those after it; and it is the same for every start, so that
// all of them can be summed.
constexpr std::array kMemories{60.0, 600.0};
constexpr double kMemoryShare = 1.0 / 16;
constexpr std::size_t kCells = 12;
constexpr double kImagined = 1;  // ranks in every cell before any came

constexpr std::size_t kBets = kFixedWagers.size() + kMemories.size();
constexpr double kNothing = std::numeric_limits<double>::lowest();  // logarithm of no money
// Ranks nearer to an end count as this: the bet then pays less than it might, never more.
constexpr double kLeastRank = 1e-15;

double log_density(const Wager& wager, double rank) {
  const double s = wager.strength, x = 1 - 2 * rank;
  switch (wager.form) {
    case Form::power:
      return std::log(s) + (s - 1) * std::log(rank);
    case Form::mirrored:
      return std::log(s) + (s - 1) * std::log1p(-rank);
    case Form::linear:
      return std::log1p(s * x);
    case Form::quadratic:
      return std::log1p(s * (3 * x * x - 1) / 2);
  }
  return 0;
}

/// The logarithm of the histogram's density at a rank. Afterwards the rank belongs to it.
double learn(std::span<double> histogram, double memory, double rank) {
  const auto cells = static_cast<double>(kCells);
  const auto cell = std::min(kCells - 1, static_cast<std::size_t>(rank * cells));
  double sum = cells * kImagined;
  for (const double count : histogram) sum += count;
  const double density = cells * (histogram[cell] + kImagined) / sum;
  for (double& count : histogram) count *= 1 - 1 / memory;
  histogram[cell] += 1;
  return std::log(density);
}

/// What is not yet placed after so many ranks, of 1: all of it will be, and there is always some left.
double cash(double ranks) { return 1 / (1 + std::log1p(ranks)); }
/// What is placed on bets that begin at rank number k = 1, 2, …: cash(k - 1) - cash(k) without cancellation.
double stake(double k) { return cash(k - 1) * cash(k) * std::log1p(1 / k); }

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

double share_of(std::size_t bet) {
  return bet < kFixedWagers.size() ? kFixedWagers[bet].share : kMemoryShare;
}

}  // namespace

Evidence::Evidence()
    : bets_(kBets, Bet{.money = kNothing, .earned = 0, .since = 0}), histograms_(kMemories.size() * kCells) {}

void Evidence::add(double rank, std::uint64_t row) {
  rank = std::clamp(rank, kLeastRank, 1 - kLeastRank);
  ++count_;
  const double placed = std::log(stake(static_cast<double>(count_)));
  for (std::size_t b = 0; b < kBets; ++b) {
    double gain = 0;
    if (b < kFixedWagers.size()) {
      gain = log_density(kFixedWagers[b], rank);
    } else {
      const std::size_t memory = b - kFixedWagers.size();
      gain = learn(std::span(histograms_).subspan(memory * kCells, kCells), kMemories[memory], rank);
    }
    Bet& bet = bets_[b];
    bet.money = log_sum(bet.money, placed) + gain;
    if (bet.earned <= 0) {
      bet.earned = 0;
      bet.since = row;
    }
    bet.earned += gain;
  }
}

double Evidence::log_value() const {
  double most = 0;
  for (const Bet& bet : bets_) most = std::max(most, bet.money);
  double sum = cash(static_cast<double>(count_)) * std::exp(-most);
  for (std::size_t b = 0; b < kBets; ++b) sum += share_of(b) * std::exp(bets_[b].money - most);
  return most + std::log(sum);
}

std::size_t Evidence::best_bet() const {
  const auto best = std::max_element(bets_.begin(), bets_.end(),
                                     [](const Bet& a, const Bet& b) { return a.money < b.money; });
  return static_cast<std::size_t>(best - bets_.begin());
}

Change Evidence::change() const {
  const std::size_t best = best_bet();
  return best < kFixedWagers.size() ? kFixedWagers[best].change : Change::shape;
}

std::uint64_t Evidence::since() const { return bets_[best_bet()].since; }

std::vector<double> Evidence::save() const {
  std::vector<double> saved{static_cast<double>(count_)};
  for (const Bet& bet : bets_)
    saved.insert(saved.end(), {bet.money, bet.earned, static_cast<double>(bet.since)});
  saved.insert(saved.end(), histograms_.begin(), histograms_.end());
  return saved;
}

void Evidence::restore(const std::vector<double>& saved) {
  if (saved.size() != 1 + 3 * bets_.size() + histograms_.size())
    throw Error(ErrorCode::input, "saved evidence is of another version; expected what this one saves");
  auto next = saved.begin();
  count_ = static_cast<std::uint64_t>(*next++);
  for (Bet& bet : bets_) {
    bet.money = *next++;
    bet.earned = *next++;
    bet.since = static_cast<std::uint64_t>(*next++);
  }
  std::copy(next, saved.end(), histograms_.begin());
}

}  // namespace harmonia
