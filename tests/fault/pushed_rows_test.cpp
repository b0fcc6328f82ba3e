#include "harmonia/monitor/pushed_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harmonia/monitor/row_reader.hpp"

namespace harmonia {
namespace {

using namespace std::chrono_literals;

StreamBatch rows(const std::string& text, const std::string& id = "") {
  StreamBatch batch = RowReader({"a"}).read_all(text);
  batch.id = id;
  return batch;
}

// Keeps whatever comes, as a monitor does: batches of an id that it knows are not counted again.
class Keeper {
 public:
  explicit Keeper(PushedRows& pushed) : thread_([this, &pushed] { work(pushed); }) {}
  void join() { thread_.join(); }
  std::map<std::uint64_t, double> values;  // by position

 private:
  void work(PushedRows& pushed) {
    std::map<std::string, bool> known;
    StreamBatch batch;
    for (;;) {
      const Arrival arrival = pushed.next(batch, 20ms);
      if (arrival == Arrival::end) return;
      if (arrival == Arrival::nothing) continue;
      const bool fresh = batch.id.empty() || known.emplace(batch.id, true).second;
      for (std::size_t i = 0; fresh && i < batch.rows.values.rows(); ++i)
        EXPECT_TRUE(values.emplace(batch.rows.number(i), batch.rows.values.row(i)[0]).second);
      pushed.kept(batch, fresh);
    }
  }
  std::jthread thread_;
};

TEST(PushedRows, SendersAreToldWhenTheirRowsAreKept) {
  PushedRows pushed;
  pushed.start({{"0", 10}});
  Keeper keeper(pushed);
  EXPECT_EQ(pushed.push(rows("1\nx\n3"), 10s), PushOutcome::kept);
  EXPECT_EQ(pushed.push(rows("4", "one"), 10s), PushOutcome::kept);
  EXPECT_EQ(pushed.push(rows("4", "one"), 10s), PushOutcome::repeated);
  EXPECT_EQ(pushed.push(rows("5", "two"), 10s), PushOutcome::kept);
  pushed.close();
  keeper.join();
  EXPECT_EQ(pushed.push(rows("6"), 10s), PushOutcome::stopped);
  EXPECT_EQ(keeper.values, (std::map<std::uint64_t, double>{{10, 1}, {12, 3}, {13, 4}, {14, 5}}));
}

TEST(PushedRows, RowsOfManySendersAreTakenOnceEach) {
  PushedRows pushed;
  pushed.start({});
  Keeper keeper(pushed);
  constexpr int kSenders = 4, kBatches = 200;
  {
    std::vector<std::jthread> senders;
    for (int s = 0; s < kSenders; ++s)
      senders.emplace_back([&, s] {
        for (int i = 0; i < kBatches; ++i) {
          const std::string number = std::to_string(s * kBatches + i);
          EXPECT_EQ(pushed.push(rows(number + "\n" + number, number), 60s), PushOutcome::kept);
        }
      });
  }
  pushed.close();
  keeper.join();
  std::map<double, int> counts;
  for (const auto& [position, value] : keeper.values) ++counts[value];
  EXPECT_EQ(keeper.values.size(), std::size_t{2} * kSenders * kBatches);
  EXPECT_EQ(keeper.values.rbegin()->first, keeper.values.size() - 1);
  EXPECT_EQ(counts.size(), std::size_t{kSenders} * kBatches);
}

TEST(PushedRows, AFullQueueTakesNoMore) {
  PushedRows pushed(3);
  pushed.start({});
  std::jthread first([&] { EXPECT_EQ(pushed.push(rows("1\n2\n3\n4"), 60s), PushOutcome::stopped); });
  while (pushed.waiting() < 4) std::this_thread::yield();  // larger than the limit, but alone
  EXPECT_EQ(pushed.push(rows("5"), 60s), PushOutcome::full);
  pushed.close();
}

TEST(PushedRows, WhatNobodyTookInTimeIsNotTakenLater) {
  PushedRows pushed;
  pushed.start({});
  EXPECT_EQ(pushed.push(rows("1"), 1ms), PushOutcome::full);
  EXPECT_EQ(pushed.waiting(), 0U);
  std::jthread sender([&] { EXPECT_EQ(pushed.push(rows("2"), 60s), PushOutcome::kept); });
  StreamBatch batch;
  while (pushed.next(batch, 1s) != Arrival::rows) continue;
  EXPECT_EQ(batch.rows.values.row(0)[0], 2);
  EXPECT_EQ(batch.first, 0U);
  pushed.kept(batch, true);
}

TEST(PushedRows, WhatIsStillMeasuredWhenTheWaitIsOverIsLate) {
  PushedRows pushed;
  pushed.start({});
  std::atomic<bool> told = false;
  std::jthread sender([&] {
    EXPECT_EQ(pushed.push(rows("1"), 2s), PushOutcome::late);
    told = true;
  });
  StreamBatch batch;
  while (pushed.next(batch, 1s) != Arrival::rows) continue;
  while (!told) std::this_thread::yield();
  pushed.kept(batch, true);  // nobody waits any more
}

TEST(PushedRows, OffersAreTakenTogetherInTheirOrder) {
  PushedRows pushed;
  pushed.start({{"0", 5}});
  StreamBatch named = rows("2\n3");
  named.rows.ids = {"two", "three"};
  EXPECT_TRUE(pushed.offer(rows("1")));
  EXPECT_TRUE(pushed.offer(named));
  std::jthread sender([&] { EXPECT_EQ(pushed.push(rows("4", "id"), 60s), PushOutcome::kept); });
  while (pushed.waiting() < 4) std::this_thread::yield();
  EXPECT_TRUE(pushed.offer(rows("5")));
  EXPECT_EQ(pushed.waiting(), 5U);
  std::vector<std::vector<double>> taken;
  for (StreamBatch batch; pushed.waiting() > 0;) {
    ASSERT_EQ(pushed.next(batch, 1s), Arrival::rows);
    std::vector<double>& values = taken.emplace_back();
    for (std::size_t i = 0; i < batch.rows.values.rows(); ++i) {
      EXPECT_EQ(batch.rows.number(i), 4 + batch.rows.values.row(i)[0]);
      values.push_back(batch.rows.values.row(i)[0]);
    }
    EXPECT_EQ(batch.next - batch.first, values.size());
    if (values.size() == 3) {
      EXPECT_EQ(batch.rows.ids, (std::vector<std::string>{"", "two", "three"}));
    }
    pushed.kept(batch, true);
  }
  EXPECT_EQ(taken, (std::vector<std::vector<double>>{{1, 2, 3}, {4}, {5}}));
}

TEST(PushedRows, OffersAreNotTakenWhenTooManyWait) {
  PushedRows pushed(3);
  pushed.start({});
  EXPECT_TRUE(pushed.offer(rows("1\n2")));
  EXPECT_FALSE(pushed.offer(rows("3\n4")));
  EXPECT_TRUE(pushed.offer(rows("3")));
  EXPECT_FALSE(pushed.offer(rows("4")));
  StreamBatch batch;
  ASSERT_EQ(pushed.next(batch, 1s), Arrival::rows);
  EXPECT_EQ(batch.next, 3U);
  EXPECT_TRUE(pushed.offer(rows("4")));
  pushed.close();
  EXPECT_FALSE(pushed.offer(rows("5")));
  EXPECT_EQ(pushed.next(batch, 1ms), Arrival::end);
}

}  // namespace
}  // namespace harmonia
