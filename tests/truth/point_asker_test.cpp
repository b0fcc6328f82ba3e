#include "harmonia/model/point_asker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

namespace harmonia {
namespace {

/// Answers with the sum of a row, and notes how many rows it is asked at a time.
class Noting final : public Model {
 public:
  explicit Noting(bool elsewhere) : elsewhere_(elsewhere) {
    info_.inputs = 3;
    info_.outputs = 1;
    info_.preferred_batch = 37;
  }
  const ModelInfo& info() const override { return info_; }
  bool makes_points() const override { return elsewhere_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const double* const row = x.as<double>().row(i);
      y.row(i)[0] = row[0] + row[1] + row[2];
    }
    const std::lock_guard lock(mutex_);
    sizes_.push_back(x.rows());
  }

  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sorted = sizes_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  ModelInfo info_;
  bool elsewhere_;
  mutable std::mutex mutex_;
  mutable std::vector<std::size_t> sizes_;
};

// Asks a hundred points on three threads.
void ask_hundred(const Model& model, std::size_t batch) {
  Run run;
  run.threads = 3;
  PointAsker asker(model, batch, run);
  Matrix<double> answers(100, 1);
  asker.ask(
      answers.rows(),
      [](std::size_t i, std::span<double> x) { std::fill(x.begin(), x.end(), static_cast<double>(i)); },
      answers.view());
  for (std::size_t i = 0; i < answers.rows(); ++i) EXPECT_EQ(answers.row(i)[0], 3.0 * static_cast<double>(i));
  EXPECT_EQ(run.ledger.spent(), 100U);
}

TEST(PointAsker, ThreadsHaveEqualShares) {
  const Noting model(false);
  ask_hundred(model, 0);
  EXPECT_EQ(model.sizes(), std::vector<std::size_t>({32, 34, 34}));
}

// It makes itself ready for every size anew, so there are two at most, and the usual one a power of two.
TEST(PointAsker, AModelElsewhereIsAskedWholeBatches) {
  const Noting model(true);
  ask_hundred(model, 0);
  EXPECT_EQ(model.sizes(), std::vector<std::size_t>({4, 32, 32, 32}));
}

TEST(PointAsker, ButNoMoreAtOnceThanIsSaid) {
  const Noting model(true);
  ask_hundred(model, 60);
  EXPECT_EQ(model.sizes(), std::vector<std::size_t>({20, 20, 20, 20, 20}));
}

}  // namespace
}  // namespace harmonia
