// Medians by order statistics, paths between rows, the data's scale, and scores as detectors.

#include "harmonia/measure/persistence_study.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/path_source.hpp"
#include "harmonia/data/spread.hpp"
#include "harmonia/model/function_model.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of these values; 0 and infinity are censored ones.
std::vector<PersistenceRow> rows_of(const std::vector<double>& values) {
  std::vector<PersistenceRow> rows;
  for (const double value : values) {
    PersistenceRow row;
    row.row = rows.size();
    row.gamma = 0.7;
    row.outcome = value == 0          ? PersistenceOutcome::censored_low
                  : std::isinf(value) ? PersistenceOutcome::censored_high
                                      : PersistenceOutcome::crossing;
    if (row.outcome == PersistenceOutcome::crossing) row.sigma = value;
    rows.push_back(row);
  }
  return rows;
}

TEST(PersistenceStudy, MedianRanksCensoredRowsAtTheEnds) {
  const auto all = rows_of({3, 0, kInfinity, 1, 2});
  EXPECT_EQ(persistence_median(all, 0.7, 0.95).median, 2);
  EXPECT_FALSE(persistence_median(all, 0.7, 0.95).interval);  // of 5 rows no pair holds with 0.95: 1 − 2/32
  EXPECT_FALSE(persistence_median(all, 0.6, 0.95).median);
  EXPECT_EQ(persistence_median(rows_of({1, 2}), 0.7, 0.95).median, 1.5);
  EXPECT_EQ(persistence_median(rows_of({1, kInfinity}), 0.7, 0.95).median, 1);
  EXPECT_EQ(persistence_median(rows_of({0, 1}), 0.7, 0.95).median, 0);
  const PersistenceMedian six = persistence_median(rows_of({1, 2, 3, 4, 5, kInfinity}), 0.7, 0.95);
  ASSERT_TRUE(six.interval);  // the least and the largest: 1 − 2/64
  EXPECT_EQ(six.interval->low, 1);
  EXPECT_EQ(six.interval->high, kInfinity);
  // The usual table of ranks: 2 of 9, 6 of 20, 40 of 100.
  for (const auto& [count, rank] : {std::pair<int, int>{9, 2}, {20, 6}, {100, 40}}) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i + 1;
    const PersistenceMedian median = persistence_median(rows_of(values), 0.7, 0.95);
    EXPECT_EQ(median.interval->low, rank) << count;
    EXPECT_EQ(median.interval->high, count + 1 - rank) << count;
  }
}

TEST(PersistenceStudy, ClassChangesAreBetweenRowsOfAPath) {
  auto rows = rows_of({1, 1, 1, 1, 1});
  const std::vector<std::optional<long long>> classes{1, 1, 0, 2, 2};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].decided_class = classes[i];
  const auto changes = class_changes(rows);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].row, 1U);
  EXPECT_EQ(changes[1].from, 0);
  EXPECT_EQ(changes[1].to, 2);
}

TEST(PersistenceStudy, PathHasBothEndsToTheBit) {
  const double from[] = {0.1, -3}, to[] = {0.7, 5};
  const auto a = make_memory_source({from, 1, 2}), b = make_memory_source({to, 1, 2});
  const auto path = make_path_source(*a, *b, 4);
  EXPECT_EQ(path->info().rows, 5U);
  RowBlock block;
  ASSERT_TRUE(path->read(block, 3));
  EXPECT_EQ(block.values.row(0)[0], 0.1);
  EXPECT_EQ(block.values.row(2)[1], 1);
  ASSERT_TRUE(path->read(block, 3));
  EXPECT_EQ(block.number(1), 4U);
  EXPECT_EQ(block.values.row(1)[0], 0.7);
  EXPECT_FALSE(path->read(block, 3));
  const auto two = make_memory_source({from, 2, 1}), narrow = make_memory_source({from, 1, 1});
  test::expect_error(ErrorCode::input,
                     "memory has more rows than one; a path needs one row at each end, such as FILE#ROW",
                     [&] { make_path_source(*two, *b, 4); });
  test::expect_error(ErrorCode::input, "a path from 2 columns to 1; expected as many at both ends",
                     [&] { make_path_source(*a, *narrow, 4); });
  test::expect_error(ErrorCode::usage, "a path of 0 steps; expected 1 at least",
                     [&] { make_path_source(*a, *b, 0); });
}

TEST(PersistenceStudy, ScaleIsTheRootMeanSquareOfTheSpreads) {
  const double values[] = {0, 0, 2, 14, 4, 28};  // deviations 2 and 14
  const auto data = make_memory_source({values, 3, 2});
  EXPECT_DOUBLE_EQ(noise_scale({}, *data), 10);
  Schema schema = plain_schema(feature_names(data->info()));
  schema[1].scale = 7;
  EXPECT_DOUBLE_EQ(noise_scale(schema, *data), 2);
  schema[0].scale = 0.5;
  schema[1].fixed = true;
  EXPECT_DOUBLE_EQ(noise_scale(schema, *data), 4);
  const auto one = make_memory_source({values, 1, 2});
  EXPECT_EQ(noise_scale({}, *one), 1);
  PersistenceOptions options;
  EXPECT_EQ(scale_range(options, "std", *data), 1);
  EXPECT_DOUBLE_EQ(scale_range(options, "none", *data), 10);
  EXPECT_DOUBLE_EQ(options.highest, 10 * 0x1p+20);
}

TEST(PersistenceStudy, DetectorKnowsTheDistanceToTheBoundary) {
  const auto model = make_function_model("half-space", 1, {{"d", 1}});
  const double natural[] = {0, 0.5, 0.75}, others[] = {0.3, 0.65, 0.88, 0.94};
  const auto data = make_memory_source({natural, 3, 1}), against = make_memory_source({others, 4, 1});
  harmonia::Run run;
  PersistenceOptions options;
  const PersistenceResult result = persistence_study(*model, *data, against.get(), 0.2, options, run);
  ASSERT_TRUE(result.detector && result.detector->persistence[0]);
  EXPECT_EQ(result.detector->persistence[0]->auroc.value, 0.75);  // 9 of 12 pairs are in order
  ASSERT_TRUE(result.detector->gamma);
  EXPECT_EQ(result.rows.size(), 3U);
  EXPECT_EQ(result.against.size(), 4U);
  EXPECT_EQ(result.evaluations, run.ledger.spent());
}

}  // namespace
}  // namespace harmonia
