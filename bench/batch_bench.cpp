// What finding the size of batches by measuring gains: gamma with it against gamma with batches of 64 points
// a thread, which is where the search begins, of a model that takes some time for every call besides that for
// its rows.

#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/gamma.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 5;
constexpr std::size_t kStart = 64, kPoints = 100'000;

// Some 0.3 us a row, and a time for every call.
class Called final : public Model {
 public:
  Called(std::size_t inputs, double call_seconds) : call_seconds_(call_seconds) {
    info_.name = "called";
    info_.inputs = inputs;
    info_.outputs = 1;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (seconds(CLOCK_THREAD_CPUTIME_ID) - start < call_seconds_) {
    }
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      double value = 0;
      for (std::size_t j = 0; j < rows.columns; ++j) value += rows.row(i)[j] * rows.row(i)[j];
      for (int step = 0; step < 200; ++step) value = 0.5 * value + 0.25;
      *y.row(i) = value;
    }
  }

 private:
  ModelInfo info_;
  double call_seconds_;
};

void compare(std::size_t n, double call_seconds, std::size_t threads, Goals& goals) {
  const Called model(n, call_seconds);
  Matrix<double> x(kPoints / (2 * n + 1), n);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < n; ++j) x.row(i)[j] = draw_uniform({.row = i}, j);
  }
  const auto measure = [&](std::size_t batch) {
    GammaOptions options;
    options.ball = parse_ball("cross");
    options.ball.radius = 0.1;
    options.batch = batch;
    Run run{.seed = 1, .threads = threads, .ledger = Ledger(), .progress = {}, .stop = {}};
    std::vector<double> gammas;
    const auto data = make_memory_source(x.view());
    gamma(model, *data, options, run, [&](const GammaRow& row) { gammas.push_back(*row.gamma); });
    return gammas;
  };
  const std::vector<double> expected = measure(kStart * threads);
  const auto check = [&](std::size_t batch) {
    require(measure(batch) == expected, fmt::format("n = {}: gamma depends on the batch", n));
  };
  check(0);
  const TwoSides time = time_in_turn(
      kRepeats, [&] { check(0); }, [&] { check(kStart * threads); });
  // Never less than noise.
  goals.at_least(fmt::format("n = {}, {} us a call, {} thread{}", n, 1e6 * call_seconds, threads,
                             threads == 1 ? "" : "s"),
                 0.95, time.theirs.processor / time.ours.processor);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  using namespace harmonia::bench;
  Goals goals;
  for (const std::size_t n : {10, 100}) {
    for (const double call_seconds : {0.0, 20e-6, 100e-6}) {
      for (const std::size_t threads : {1, 2}) compare(n, call_seconds, threads, goals);
    }
  }
  goals.print();
}
