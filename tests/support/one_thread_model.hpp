#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia::test {

/// A model that may only be asked by the thread that made it, as a function of Python. Every bit of every
/// coordinate matters to its answers. Of each call it checks that nobody else touches the batch meanwhile.
template <class T>
class OneThreadModel final : public Model {
 public:
  /// It lends memory for its batches, or does not.
  OneThreadModel(std::size_t inputs, bool lends) : lends_(lends) {
    info_.name = "one thread";
    info_.inputs = inputs;
    info_.outputs = 2;
    info_.scalar = sizeof(T) == 4 ? Scalar::float32 : Scalar::float64;
    info_.reentrant = false;
    info_.preferred_batch = 64;
  }

  std::function<void(std::size_t call, MutableRowsView y)> after_answering;  ///< calls are numbered from 0

  ModelInfo& info() { return info_; }
  const ModelInfo& info() const override { return info_; }
  std::size_t calls() const { return calls_; }

  std::shared_ptr<void> batch_memory(std::size_t rows) const override {
    EXPECT_EQ(std::this_thread::get_id(), thread_);
    if (!lends_) return nullptr;
    for (const auto& memory : memory_)
      if (memory.use_count() == 1 && memory->size() >= rows * info_.inputs) return {memory, memory->data()};
    const auto& fresh = memory_.emplace_back(std::make_shared<std::vector<T>>(rows * info_.inputs));
    return {fresh, fresh->data()};
  }

  void evaluate(RowsView x, MutableRowsView y) const override {
    EXPECT_EQ(std::this_thread::get_id(), thread_);
    const auto rows = x.as<T>();
    std::vector<T> before(rows.data, rows.data + rows.rows * rows.columns);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      for (std::size_t k = 0; k < 2; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < rows.columns; ++j)
          sum += std::sin(static_cast<double>((j + 2) * (k + 1))) * static_cast<double>(rows.row(i)[j]);
        y.row(i)[k] = std::sin(sum);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), rows.data)) << "points of another batch";
    spoil(rows);
    const std::size_t call = calls_++;
    if (after_answering) after_answering(call, y);
  }

 private:
  // What a call spoils is written anew before the next.
  void spoil(MatrixView<const T> rows) const {
    if (!lends_) return;
    const auto lent = std::find_if(memory_.begin(), memory_.end(),
                                   [&](const auto& memory) { return memory->data() == rows.data; });
    ASSERT_NE(lent, memory_.end()) << "points are not where they are best written";
    std::fill((*lent)->begin(), (*lent)->end(), std::numeric_limits<T>::quiet_NaN());
  }

  ModelInfo info_;
  bool lends_;
  std::thread::id thread_ = std::this_thread::get_id();
  mutable std::size_t calls_ = 0;
  mutable std::vector<std::shared_ptr<std::vector<T>>> memory_;
};

}  // namespace harmonia::test
