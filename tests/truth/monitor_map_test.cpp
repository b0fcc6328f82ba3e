// A monitor with a Gamma Map says of every row what `harmonia map --use` says, and its windows add up
// exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/monitor/monitor.hpp"
#include "harmonia/report/map_report.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"
#include "support/streams.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

// Two logits, of which the first one's gamma is r² (1 + x0) / 4 on the cross; the second one's is 0.
test::RowFunction two_classes() {
  return {2, 2, [](const double* x, double* y) {
            y[0] = 4 * (x[0] - 0.4) + 0.5 * (1 + x[0]) * x[1] * x[1];
            y[1] = 0;
          }};
}

GammaOptions measured_so() {
  GammaOptions options = test::cross_options();
  options.output = {};
  return options;
}

Matrix<double> rows_of(std::uint64_t seed, std::uint64_t first, std::uint64_t next) {
  Matrix<double> x(next - first, 2);
  for (std::uint64_t i = first; i < next; ++i) std::ranges::copy(test::drawn_row(seed, i), x.row(i - first));
  return x;
}

MapRows asked_rows(const Matrix<double>& x) {
  Run run;
  const auto data = make_memory_source(x.view());
  return map_rows(two_classes(), *data, measured_so(), 25, run);
}

// Fitted on searches that are made up: a row is stable the likelier, the larger P and the smaller gamma is.
MonitorMap fitted(bool with_feature = false) {
  const Matrix<double> x = rows_of(3, 0, 400);
  MapRows rows = asked_rows(x);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    MapRow& row = rows.rows[i];
    const double odds = 2 * row.place->log_odds - 300 * *row.gamma.gamma;
    row.search = MapSearch{i, draw_uniform({5, Stream::uniform_data, i, 0}, 0) < logistic(odds), 0};
    if (with_feature) row.extra = {x.row(i)[1]};
  }
  if (with_feature) rows.extra = {"place"};
  MonitorMap map{fit_map(rows, {}, Scalar::float64).map.value(), {}, 25};
  if (with_feature) map.features = {1};
  return map;
}

struct Watched {
  test::RowFunction model = two_classes();
  Baseline baseline;
  test::TemporaryFolder folder;
  MonitorOptions options;
  Run run;

  explicit Watched(std::optional<MonitorMap> map) {
    const Matrix<double> x = rows_of(7, 0, 500);
    Run state;
    baseline = make_baseline(x.view(), gamma(model, x.view(), measured_so(), state).rows, {"slope", "place"},
                             measured_so(), 7, {});
    options.window = 100;
    options.map = std::move(map);
  }
  std::string file(const std::string& name = "state.db") const { return folder.path(name); }
  Monitor open(const std::string& name = "state.db") { return {model, baseline, options, file(name), run}; }
};

void expect_same(const StabilityCounts& a, const StabilityCounts& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.outside, b.outside);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.squares, b.squares);
  EXPECT_EQ(a.bins, b.bins);
}

void expect_same(const RowStability& found, const LogitPlace& place, const MapAnswer& answer) {
  EXPECT_EQ(found.log_odds, place.log_odds);
  EXPECT_EQ(found.probability, answer.probability);
  EXPECT_EQ(found.interval.low, answer.interval.low);
  EXPECT_EQ(found.interval.high, answer.interval.high);
  EXPECT_EQ(found.outside, answer.outside);
}

TEST(MonitorMap, RowsAreAnsweredAsTheMapAnswersThemAtNoFurtherCall) {
  for (const bool with_feature : {false, true}) {
    Watched watched(fitted(with_feature));
    Monitor monitor = watched.open();
    for (std::uint64_t first = 0; first < 600; first += 70)
      monitor.take(test::drawn_batch(11, first, std::min<std::uint64_t>(600, first + 70)));
    const MonitorStatus status = monitor.status();
    EXPECT_EQ(status.evaluations, 600U * 5);

    const Matrix<double> x = rows_of(11, 0, 600);
    MapRows rows = asked_rows(x);
    if (with_feature) {
      for (MapRow& row : rows.rows) row.extra = {x.row(row.row)[1]};
    }
    const std::vector<std::optional<MapAnswer>> answers = ask_map(watched.options.map->map, rows);
    ASSERT_EQ(status.points.size(), kMapPoints);
    double smallest = 1, largest = 0;
    for (std::size_t i = 0; i < kMapPoints; ++i) {
      const KeptRow& row = status.points[i].row;
      const std::size_t number = 600 - kMapPoints + i;
      ASSERT_EQ(row.number, number);
      expect_same(row.stability.value(), rows.rows[number].place.value(), answers[number].value());
      // Of two logits log P/(1 − P) is their distance.
      double y[2];
      two_classes().evaluate(RowsView(MatrixView<const double>{x.row(number), 1, 2}), {y, 1, 2});
      EXPECT_DOUBLE_EQ(row.stability->log_odds, std::abs(y[0]));
      smallest = std::min(smallest, row.stability->probability);
      largest = std::max(largest, row.stability->probability);
    }
    EXPECT_LT(smallest, 0.5);  // the map says something
    EXPECT_GT(largest, 0.9);
    for (const Window& window : status.windows) {
      StabilityCounts counts;
      for (std::uint64_t i = window.first; i < window.next; ++i)
        count_stability({0, answers[i]->probability, {}, answers[i]->outside}, counts);
      expect_same(window.stability, counts);
    }
  }
}

TEST(MonitorMap, WindowsOfSeveralMonitorsMergeToThoseOfOne) {
  Watched watched(fitted());
  const auto part = [](std::uint64_t first, std::uint64_t next) {
    StreamBatch batch = test::drawn_batch(11, first, next);
    batch.partition = "rows/1";
    return batch;
  };
  Monitor one = watched.open("one.db"), two = watched.open("two.db"), all = watched.open("all.db");
  one.take(part(0, 140));
  two.take(part(100, 250));
  one.take(part(200, 300));
  all.take(part(0, 300));
  std::vector<Window> windows = StoredMonitor(watched.file("one.db")).windows(watched.baseline);
  for (Window& window : StoredMonitor(watched.file("two.db")).windows(watched.baseline))
    windows.push_back(window);
  StabilityCounts merged, whole;
  for (const Window& window : merge_windows(windows)) merge(merged, window.stability);
  for (const Window& window : StoredMonitor(watched.file("all.db")).windows(watched.baseline))
    merge(whole, window.stability);
  EXPECT_EQ(merged.rows, 300U);
  expect_same(merged, whole);
}

TEST(MonitorMap, PointsAndAlertsRowsOutlastARestart) {
  Watched watched(fitted());
  std::vector<MapPoint> before;
  std::string alert;
  {
    Monitor monitor = watched.open();
    for (std::uint64_t first = 0; first < 3000; first += 100)
      monitor.take(test::drawn_batch(11, first, first + 100, 3, 2000));
    const MonitorStatus status = monitor.status();
    before = status.points;
    ASSERT_EQ(status.alerts.size(), 1U);
    ASSERT_FALSE(status.alerts[0].ended);
    ASSERT_TRUE(status.alerts[0].rows[0].row.stability);
    alert = alert_text(status.alerts[0], watched.baseline);
    // Every row that the open alert shows is a point, and marked.
    std::size_t marked = 0;
    for (const MapPoint& point : before) marked += point.alert ? 1 : 0;
    EXPECT_EQ(marked, status.alerts[0].rows.size());
    EXPECT_TRUE(before[0].row.values.empty());
  }
  const MonitorStatus again = watched.open().status();
  const MonitorStatus stored = StoredMonitor(watched.file()).status(watched.baseline);
  EXPECT_EQ(alert_text(again.alerts.at(0), watched.baseline), alert);
  for (const std::vector<MapPoint>* points : {&again.points, &stored.points}) {
    ASSERT_EQ(points->size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const KeptRow &a = before[i].row, &b = (*points)[i].row;
      EXPECT_EQ(a.number, b.number);
      EXPECT_EQ(a.gamma, b.gamma);
      EXPECT_EQ(a.stability->log_odds, b.stability->log_odds);
      EXPECT_EQ(a.stability->probability, b.stability->probability);
      EXPECT_EQ(a.stability->outside, b.stability->outside);
      EXPECT_EQ(before[i].alert, (*points)[i].alert);
    }
  }
}

TEST(MonitorMap, MeansAndBinsByHand) {
  StabilityCounts counts;
  EXPECT_FALSE(mean_stability(counts, 0.95).mean);
  for (const double probability : {0.25, 0.5, 1.0, 0.0}) count_stability({0, probability, {}, false}, counts);
  count_stability({0, 0.5, {}, true}, counts);
  EXPECT_EQ(counts.rows, 5U);
  EXPECT_EQ(counts.outside, 1U);
  EXPECT_EQ(counts.bins[0], 1U);
  EXPECT_EQ(counts.bins[5], 1U);
  EXPECT_EQ(counts.bins[10], 2U);
  EXPECT_EQ(counts.bins[19], 1U);
  const MeanStability mean = mean_stability(counts, 0.95);
  EXPECT_DOUBLE_EQ(mean.mean.value(), 0.45);
  // Deviation of {0, 1/4, 1/2, 1/2, 1}: the sum of squares is 0.55; t of four degrees of freedom.
  const double half = 2.7764451051977987 * std::sqrt(0.55 / 4 / 5);
  EXPECT_NEAR(mean.low.value(), std::max(0.0, 0.45 - half), 1e-9);
  EXPECT_NEAR(mean.high.value(), 0.45 + half, 1e-9);
}

TEST(MonitorMap, FilesWithAndWithoutAMapAreNotMixed) {
  Watched without(std::nullopt);
  without.open().take(test::drawn_batch(11, 0, 100));
  EXPECT_EQ(without.open().status().rows, 100U);  // as before there were maps
  EXPECT_TRUE(without.open().status().points.empty());
  without.options.map = fitted();
  const std::string other =
      without.file() + ": is of another baseline, map, window or seed; expected the same, or another file";
  test::expect_error(ErrorCode::usage, other, [&] { without.open(); });
  Watched with(fitted());
  with.open().take(test::drawn_batch(11, 0, 100));
  with.options.map->map.intercept += 1;
  test::expect_error(
      ErrorCode::usage,
      with.file() + ": is of another baseline, map, window or seed; expected the same, or another file",
      [&] { with.open(); });
}

TEST(MonitorMap, ABaselineOfAnotherOutputIsRefused) {
  Watched watched(fitted());
  watched.baseline.options.output = parse_output("column:0");
  test::expect_error(ErrorCode::usage,
                     "a map asks for gamma in the logit of a row's class; model test has 2 outputs and the "
                     "baseline is of output column:0",
                     [&] { watched.open(); });
}

}  // namespace
}  // namespace harmonia
