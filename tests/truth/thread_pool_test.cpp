#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "harmonia/core/parallel.hpp"

namespace harmonia {
namespace {

TEST(ThreadPool, EveryIndexOnceWhateverTheCount) {
  ThreadPool pool(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (const std::size_t count : {0, 1, 2, 3, 4, 5, 17}) {
      std::vector<std::atomic<int>> seen(count);
      std::vector<std::atomic<int>> busy(pool.threads());
      pool.run(count, [&](std::size_t worker, std::size_t i) {
        EXPECT_EQ(busy[worker].fetch_add(1), 0) << "a worker has one task at a time";
        seen[i].fetch_add(1);
        busy[worker].fetch_sub(1);
      });
      for (const std::atomic<int>& times : seen) EXPECT_EQ(times.load(), 1);
    }
  }
}

// Numbers that are not atomic: what the tasks wrote is there when run() is back.
TEST(ThreadPool, WhatTasksWriteIsThereAfterwards) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<std::size_t> squares(10);
    pool.run(squares.size(), [&](std::size_t, std::size_t i) { squares[i] = i * i; });
    for (std::size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i);
  }
}

TEST(ThreadPool, TheFirstErrorStopsTheLoopAndThePoolGoesOn) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> tasks = 0;
    EXPECT_THROW(pool.run(1000,
                          [&](std::size_t, std::size_t i) {
                            ++tasks;
                            if (i == 5) throw std::runtime_error("five");
                          }),
                 std::runtime_error);
    EXPECT_GE(tasks.load(), 6);
    tasks = 0;
    pool.run(7, [&](std::size_t, std::size_t) { ++tasks; });
    EXPECT_EQ(tasks.load(), 7);
  }
}

TEST(ThreadPool, OneThreadIsTheCallersOwn) {
  ThreadPool pool(1);
  std::vector<std::size_t> order;
  pool.run(5, [&](std::size_t worker, std::size_t i) {
    EXPECT_EQ(worker, 0U);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace harmonia
