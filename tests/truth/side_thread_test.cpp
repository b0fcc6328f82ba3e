#include "harmonia/core/side_thread.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace harmonia {
namespace {

// A number that is not atomic: what the work wrote is there when finish() is back.
TEST(SideThread, OnePieceOfWorkAfterAnother) {
  SideThread beside;
  std::size_t sum = 0;
  for (std::size_t i = 1; i <= 1000; ++i) {
    beside.start([&, i] { sum += i; });
    if (i % 3 == 0) std::this_thread::yield();
    beside.finish();
    ASSERT_EQ(sum, i * (i + 1) / 2);
  }
}

TEST(SideThread, WorksBesideItsOwner) {
  SideThread beside;
  std::promise<std::thread::id> worker;
  beside.start([&] { worker.set_value(std::this_thread::get_id()); });
  EXPECT_NE(worker.get_future().get(), std::this_thread::get_id());
  beside.finish();
}

TEST(SideThread, WhatWorkThrowsIsThrownOnce) {
  SideThread beside;
  for (int repeat = 0; repeat < 100; ++repeat) {
    beside.start([] { throw std::runtime_error("no"); });
    if (repeat % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_THROW(beside.finish(), std::runtime_error);
    beside.start([] {});
    beside.finish();
  }
}

TEST(SideThread, WorkThatHasBegunIsWaitedForAtTheEnd) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    bool done = false;
    {
      SideThread beside;
      std::promise<void> begun;
      beside.start([&] {
        begun.set_value();
        std::this_thread::yield();
        done = true;
      });
      begun.get_future().wait();
    }
    ASSERT_TRUE(done);
  }
  const SideThread idle;
}

}  // namespace
}  // namespace harmonia
