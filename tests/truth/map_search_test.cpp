#include "harmonia/search/map_search.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "harmonia/data/memory_source.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kRows = 60;

// Two classes by a curved margin. The third feature is the row's number, which nothing moves: the model knows
// whose points it is asked about.
class Watched {
 public:
  Watched()
      : rows_(kRows, 3), model_(3, 2, [this](const double* x, double* y) {
          const std::scoped_lock lock(mutex_);
          seen_.insert(static_cast<std::size_t>(x[2]));
          y[0] = x[0] + x[1] * x[1];
          y[1] = 0;
        }) {
    for (std::size_t i = 0; i < kRows; ++i) {
      rows_.row(i)[0] = 0.05 * static_cast<double>(i % 12) - 0.3;
      rows_.row(i)[1] = 0.1 * static_cast<double>(i % 5);
      rows_.row(i)[2] = static_cast<double>(i);
    }
    for (const char* name : {"a", "b", "number"}) {
      Feature feature;
      feature.name = name;
      feature.fixed = std::string(name) == "number";
      options_.schema.push_back(feature);
    }
    options_.ball.kind = BallKind::cross;
    options_.ball.radius = search_.radius = 0.1;
    search_.schema = options_.schema;
    search_.steps = 2;
    search_.go_on = true;
  }

  MapRows measure(std::uint64_t limit) {
    seen_.clear();
    Run run{.ledger = Ledger(limit), .progress = {}, .stop = {}};
    const auto data = make_memory_source(rows_.view(), {}, {}, {});
    MapRows rows = measure_and_search(model_, *data, options_, search_, run);
    EXPECT_LE(run.ledger.spent(), limit);
    return rows;
  }
  const std::set<std::size_t>& seen() const { return seen_; }

 private:
  Matrix<double> rows_;
  std::mutex mutex_;
  std::set<std::size_t> seen_;
  test::RowFunction model_;
  GammaOptions options_;
  AttackOptions search_;
};

TEST(MapSearch, RowsWithoutAGammaAreNotSearched) {
  Watched watched;
  const MapRows all = watched.measure(Ledger::kUnlimited);
  EXPECT_EQ(watched.seen().size(), kRows);
  for (const MapRow& row : all.rows) EXPECT_TRUE(row.measured() && row.search) << row.row;
  for (const std::uint64_t limit : {100U, 400U, 900U}) {
    const MapRows some = watched.measure(limit);
    ASSERT_EQ(some.rows.size(), kRows);
    std::size_t measured = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      const MapRow& row = some.rows[i];
      measured += row.measured() ? 1 : 0;
      EXPECT_EQ(row.measured(), row.search.has_value()) << limit << " " << i;
      EXPECT_EQ(row.measured(), watched.seen().contains(i)) << limit << " " << i;
      if (!row.search) continue;
      EXPECT_EQ(row.search->stable, all.rows[i].search->stable) << i;
      EXPECT_EQ(row.search->drift, all.rows[i].search->drift) << i;
    }
    EXPECT_GT(measured, 0U);
    EXPECT_LT(measured, kRows);
  }
}

}  // namespace
}  // namespace harmonia
