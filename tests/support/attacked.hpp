#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/search/attack.hpp"

namespace harmonia::test {

/// What an attack makes of the rows of x; expects that it counted its evaluations right, and kept to the most
/// that it says it may take.
inline std::vector<AttackRow> attacked(const Model& model, const Matrix<double>& x,
                                       const AttackOptions& options, std::size_t threads = 1,
                                       std::uint64_t seed = 1, std::uint64_t budget = Ledger::kUnlimited) {
  const auto data = make_memory_source(x.view());
  harmonia::Run run{.seed = seed, .threads = threads, .ledger = Ledger(budget), .progress = {}, .stop = {}};
  std::vector<AttackRow> rows;
  attack(model, *data, options, run, [&](const AttackRow& row) { rows.push_back(row); });
  std::uint64_t evaluations = 0;
  for (const AttackRow& row : rows) {
    evaluations += row.evaluations;
    EXPECT_LE(row.evaluations, attack_cost(options, x.columns()));
    const std::size_t values = row.outcome == AttackOutcome::budget ? 0 : x.columns();
    EXPECT_EQ(row.original.size(), values);
    EXPECT_EQ(row.adversarial.size(), values);
  }
  EXPECT_EQ(evaluations, run.ledger.spent());
  EXPECT_LE(evaluations, budget);
  return rows;
}

}  // namespace harmonia::test
