// A monitor counts what came, finds a change, says since when and where, and ends the alert when the change
// does.
#include "harmonia/monitor/monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/streams.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

struct Watched {
  test::RowFunction model = test::curved_model();
  Baseline baseline = test::curved_baseline(2000, 7);
  test::TemporaryFolder folder;
  MonitorOptions options;
  Run run;

  std::vector<Window> stored(const std::string& name) const {
    return StoredMonitor(file(name)).windows(baseline);
  }
  std::string file(const std::string& name = "state.db") const { return folder.path(name); }
  Monitor open(const std::string& name = "state.db") { return {model, baseline, options, file(name), run}; }
};

// Feeds rows [from, to) by batches of `size` that have a shift of 3 in [begin, end); all alerts that began or
// ended.
std::vector<Alert> feed(Monitor& monitor, std::uint64_t from, std::uint64_t to, std::uint64_t size,
                        std::uint64_t begin, std::uint64_t end) {
  std::vector<Alert> alerts;
  for (std::uint64_t first = from; first < to; first += size) {
    const Taken taken = monitor.take(test::drawn_batch(11, first, std::min(to, first + size), 3, begin, end));
    EXPECT_TRUE(taken.kept);
    EXPECT_TRUE(taken.fresh);
    alerts.insert(alerts.end(), taken.alerts.begin(), taken.alerts.end());
  }
  return alerts;
}

std::string all_windows(const Watched& watched, const std::string& name) {
  std::string text;
  for (const Window& window : merge_windows(watched.stored(name))) text += window_text(window) + "\n";
  return text;
}

TEST(Monitor, StreamWithoutDriftIsCountedAndRaisesNothing) {
  Watched watched;
  Monitor monitor = watched.open();
  EXPECT_TRUE(feed(monitor, 0, 4500, 130, 0, 0).empty());
  const MonitorStatus status = monitor.status();
  EXPECT_EQ(status.rows, 4500U);
  EXPECT_EQ(status.measured, 4500U);
  EXPECT_EQ(status.evaluations, 4500U * 5);
  EXPECT_EQ(status.positions.at("0"), 4500U);
  ASSERT_EQ(status.windows.size(), 5U);
  EXPECT_EQ(status.windows[4].first, 4000U);
  EXPECT_EQ(status.windows[4].next, 4500U);
  EXPECT_EQ(status.windows[4].rows, 500U);
  // Of r² s / 4 with s between 1 and 2: 0.0025 to 0.005, on average 0.00375.
  const GammaStatistics gamma = counted_gamma(watched.baseline, status.windows[0].counts, 0.95);
  EXPECT_NEAR(gamma.mean.value(), 0.00375, 0.0001);
  EXPECT_LT(gamma.low.value(), 0.00375);
  EXPECT_GT(gamma.high.value(), 0.00375);
}

TEST(Monitor, ChangeIsFoundDescribedAndEnds) {
  Watched watched;
  Monitor monitor = watched.open();
  // Slopes of 4 to 5 instead of 1 to 2 from row 3000 to row 6000.
  const std::vector<Alert> alerts = feed(monitor, 0, 9000, 100, 3000, 6000);
  ASSERT_EQ(alerts.size(), 2U);
  const Alert& begun = alerts[0];
  EXPECT_FALSE(begun.ended);
  EXPECT_GE(begun.raised_number, 3000U);
  EXPECT_LT(begun.raised_number, 3100U);
  EXPECT_NEAR(static_cast<double>(begun.since_number), 3000, 30);
  EXPECT_NEAR(begun.since, 1.0e9 + 3000, 130);
  EXPECT_LE(begun.p_value, 0.01);
  ASSERT_FALSE(begun.parts.empty());
  EXPECT_NE(begun.text.find("gamma is larger"), std::string::npos) << begun.text;
  const Alert& ended = alerts[1];
  EXPECT_EQ(ended.id, begun.id);
  ASSERT_TRUE(ended.ended);
  EXPECT_GE(*ended.ended, 1.0e9 + 6000);
  EXPECT_LE(*ended.ended, 1.0e9 + 7200);
  ASSERT_EQ(ended.features.size(), 1U);  // too few rows had come to say so at first
  EXPECT_EQ(ended.features[0].name, "slope");
  EXPECT_NE(ended.text.find("slope is more often above 0.99"), std::string::npos) << ended.text;
  ASSERT_EQ(ended.rows.size(), 50U);  // chosen again when there were enough
  EXPECT_GT(ended.rows[0].row.gamma, 0.01);
  EXPECT_GE(ended.rows[0].row.gamma, ended.rows[49].row.gamma);
  EXPECT_EQ(monitor.status().alerts.size(), 1U);
}

TEST(Monitor, AlertIsCompletedWithNearestRowsAndWaysBack) {
  Watched watched;
  Monitor monitor = watched.open();
  EXPECT_FALSE(monitor.complete_alert());
  feed(monitor, 0, 2000, 100, 1000, 2000);
  std::optional<Alert> alert;
  for (int row = 0; row < 50 && monitor.has_incomplete(); ++row) alert = monitor.complete_alert();
  ASSERT_TRUE(alert);
  EXPECT_TRUE(alert->complete);
  ASSERT_TRUE(alert->rows[0].nearest);
  ASSERT_TRUE(alert->rows[0].back);
  EXPECT_EQ(alert->rows[0].back->features, std::vector<std::size_t>{0});
  EXPECT_LE(alert->rows[0].back->gamma, 0.0051);
  EXPECT_EQ(alert->rows[0].reason, "");
  EXPECT_EQ(alert->text.find("No change that brings"), std::string::npos);
  EXPECT_EQ(alert->rows[20].reason, "it is looked for in the first 20 rows alone");
  EXPECT_FALSE(monitor.complete_alert());
  const Alert again = read_alert(alert_text(*alert, watched.baseline));
  EXPECT_EQ(alert_text(again, watched.baseline), alert_text(*alert, watched.baseline));
}

TEST(Monitor, AlertSaysWhyThereIsNoWayBack) {
  Watched watched;
  watched.options.back_calls = 10 * watched.options.back_rows;
  Monitor monitor = watched.open();
  feed(monitor, 0, 2000, 100, 1000, 2000);
  std::optional<Alert> alert;
  for (int row = 0; row < 50 && monitor.has_incomplete(); ++row) alert = monitor.complete_alert();
  ASSERT_TRUE(alert);
  EXPECT_FALSE(alert->rows[0].back);
  EXPECT_EQ(alert->rows[0].reason, "none was found within 10 evaluations");
  EXPECT_NE(alert->text.find(
                "No change that brings gamma of the first row back was found: none was found within 10"),
            std::string::npos)
      << alert->text;
  EXPECT_EQ(read_alert(alert_text(*alert, watched.baseline)).rows[0].reason, alert->rows[0].reason);
}

TEST(Monitor, ResultDoesNotDependOnBatchesOrRestarts) {
  Watched watched;
  watched.options.share = 0.7;
  std::string whole;
  {
    Monitor monitor = watched.open("whole.db");
    feed(monitor, 0, 5000, 1000, 2500, 4000);
    whole = monitor.status().alerts.at(0).text;
  }
  std::uint64_t first = 0;
  for (const std::uint64_t until : {300, 1700, 2590, 2600, 3333, 5000}) {
    Monitor monitor = watched.open("parts.db");
    feed(monitor, first, until, 77, 2500, 4000);
    first = until;
  }
  Monitor monitor = watched.open("parts.db");
  ASSERT_EQ(monitor.status().alerts.size(), 1U);
  EXPECT_EQ(monitor.status().alerts[0].since_number, monitor.status().alerts[0].since_number);
  // Times are those of batches; numbers are not.
  const auto counts = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("\"begin\":", at)) != std::string::npos;)
      text.erase(at, text.find(',', at) - at);
    for (std::size_t at = 0; (at = text.find("\"end\":", at)) != std::string::npos;)
      text.erase(at, text.find(',', at) - at);
    return text;
  };
  EXPECT_EQ(counts(all_windows(watched, "whole.db")), counts(all_windows(watched, "parts.db")));
  EXPECT_GT(monitor.status().left_out, 1300U);
  EXPECT_LT(monitor.status().left_out, 1700U);
}

// Rotations have to be those of the baseline: others give other gammas, and every stream would be an alert.
TEST(Monitor, StreamWithoutDriftIsQuietWithEveryKindOfBall) {
  for (const char* ball :
       {"rotated:1", "rotated-simplex:2", "random-pairs:4", "rademacher:4", "simplex+anti"}) {
    const test::RowFunction model(
        3, [](const double* x) { return x[0] * x[1] * x[1] + std::sin(3 * x[2]) * x[0]; });
    GammaOptions measured;
    measured.ball = parse_ball(ball);
    measured.ball.radius = 0.5;
    measured.output = parse_output("column:0");
    const auto rows = [](std::uint64_t seed, std::size_t count) {
      Matrix<double> x(count, 3);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < 3; ++j) x.row(i)[j] = draw_uniform({seed, Stream::uniform_data, i, 0}, j);
      return x;
    };
    const Matrix<double> reference = rows(1, 1000);
    harmonia::Run run;
    const Baseline baseline =
        make_baseline(reference.view(), gamma(model, reference.view(), measured, run).rows, {"a", "b", "c"},
                      measured, run.seed, {});
    const test::TemporaryFolder folder;
    Monitor monitor(model, baseline, {}, folder.path("state.db"), run);
    StreamBatch batch;
    batch.next = 2000;
    batch.rows.reset(0, 2000, 3);
    batch.rows.values = rows(2, 2000);
    EXPECT_TRUE(monitor.take(batch).alerts.empty()) << ball;
  }
}

TEST(Monitor, WindowOfAPartitionThatRestedIsGoneOnWith) {
  Watched watched;
  watched.options.window = 10;
  const auto part = [](const std::string& name, std::uint64_t first, std::uint64_t next) {
    StreamBatch batch = test::drawn_batch(11, first, next);
    batch.partition = name;
    return batch;
  };
  Monitor(watched.model, watched.baseline, watched.options, watched.file(), watched.run)
      .take(part("a", 0, 15));
  Monitor(watched.model, watched.baseline, watched.options, watched.file(), watched.run)
      .take(part("b", 0, 3000));
  Monitor(watched.model, watched.baseline, watched.options, watched.file(), watched.run)
      .take(part("a", 15, 18));
  std::uint64_t rows = 0;
  for (const Window& window : watched.stored("state.db")) rows += window.rows;
  EXPECT_EQ(rows, 3018U);
}

TEST(Monitor, PositionsAndBatchesAreTakenOnce) {
  Watched watched;
  Monitor monitor = watched.open();
  StreamBatch batch = test::drawn_batch(11, 0, 100);
  batch.id = "a";
  EXPECT_TRUE(monitor.take(batch).fresh);
  EXPECT_FALSE(monitor.take(batch).fresh);  // the same batch
  EXPECT_EQ(monitor.status().repeated_batches, 1U);
  monitor.take(test::drawn_batch(11, 50, 150));  // half of its positions are known
  EXPECT_EQ(monitor.status().rows, 150U);
  EXPECT_EQ(monitor.status().positions.at("0"), 150U);
}

TEST(Monitor, WindowsOfSeveralMonitorsMergeExactly) {
  Watched watched;
  const auto part = [](std::uint64_t first, std::uint64_t next) {
    StreamBatch batch = test::drawn_batch(11, first, next);
    batch.partition = "rows/1";
    return batch;
  };
  Monitor one = watched.open("one.db"), two = watched.open("two.db"), all = watched.open("all.db");
  one.take(part(0, 1400));
  // It took over in the middle of a window, and began that one again; so did the first one later.
  two.take(part(1000, 2500));
  one.take(part(2000, 3000));
  all.take(part(0, 3000));
  std::vector<Window> windows = watched.stored("one.db");
  for (Window& window : watched.stored("two.db")) windows.push_back(window);
  RowCounts merged = no_counts(watched.baseline), whole = no_counts(watched.baseline);
  std::uint64_t rows = 0;
  for (const Window& window : merge_windows(windows)) {
    merge(merged, window.counts);
    rows += window.rows;
  }
  for (const Window& window : watched.stored("all.db")) merge(whole, window.counts);
  EXPECT_EQ(rows, 3000U);
  EXPECT_EQ(merged.gamma, whole.gamma);
  EXPECT_EQ(merged.gamma_sum, whole.gamma_sum);
  EXPECT_EQ(merged.features, whole.features);
}

}  // namespace
}  // namespace harmonia
