// Goal 1: gamma of a model that is only asked for answers, against the model itself on as many points of the
// same balls, which lie ready in memory, in batches of the same sizes.

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/function_model.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.97;
constexpr double kRadius = 0.1;
constexpr double kMicroseconds = 60'000;       // of the model alone, in most cases
constexpr int kRepeats = 9, kMoreRepeats = 3;  // of a case; and so many times as many until it is steady
constexpr double kSteady = 0.01;               // by which two sides that do the same may differ
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;  // of the points that lie ready

// Halves its distance to x_0² a fixed number of times: a cost that does not depend on the number of features.
class Busy final : public Model {
 public:
  Busy(std::size_t inputs, std::size_t steps) : steps_(steps) {
    info_.name = "busy";
    info_.inputs = inputs;
    info_.outputs = 1;
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      const double target = rows.row(i)[0] * rows.row(i)[0];
      double value = 0;
      for (std::size_t step = 0; step < steps_; ++step) value = 0.5 * value + 0.5 * target;
      *y.row(i) = value;
    }
  }

 private:
  ModelInfo info_;
  std::size_t steps_;
};

// One hidden layer of rectified units in single precision; the weights are keyed draws.
class Network final : public Model {
 public:
  Network(std::size_t inputs, std::size_t hidden) : weights_(inputs, hidden), out_(hidden) {
    info_.name = "network";
    info_.inputs = inputs;
    info_.outputs = 1;
    info_.scalar = Scalar::float32;
    for (std::size_t j = 0; j < inputs; ++j) normals({.row = j}, {weights_.row(j), hidden});
    normals({.row = inputs}, out_);
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<float>();
    std::vector<float> units(out_.size());
    for (std::size_t i = 0; i < rows.rows; ++i) {
      std::fill(units.begin(), units.end(), 0.0F);
      for (std::size_t j = 0; j < rows.columns; ++j) {
        const float* weights = weights_.row(j);
        for (std::size_t h = 0; h < units.size(); ++h) units[h] += weights[h] * rows.row(i)[j];
      }
      double sum = 0;
      for (std::size_t h = 0; h < units.size(); ++h)
        sum += static_cast<double>(out_[h] * std::max(0.0F, units[h]));
      *y.row(i) = sum;
    }
  }

 private:
  ModelInfo info_;
  Matrix<float> weights_;
  std::vector<float> out_;
};

// Answers as another model does, and remembers what it was asked: the answers if wanted, the size of every
// batch, and the first of the points, as many as fit into kKeptBytes, or two batches.
template <class T>
class Recorder final : public Model {
 public:
  explicit Recorder(const Model& model, bool answers_wanted = false)
      : model_(model), answers_wanted_(answers_wanted) {}
  const ModelInfo& info() const override { return model_.info(); }
  void evaluate(RowsView x, MutableRowsView y) const override {
    model_.evaluate(x, y);
    const std::lock_guard lock(mutex_);
    const auto points = x.as<T>();
    sizes.push_back(points.rows);
    largest = std::max(largest, points.rows);
    total += points.rows;
    if (answers_wanted_) answers.insert(answers.end(), y.data, y.data + y.rows);
    const std::size_t fit = kKeptBytes / (points.columns * sizeof(T));
    for (std::size_t i = 0; i < points.rows && kept_rows() < std::max(fit, 2 * largest); ++i)
      kept.insert(kept.end(), points.row(i), points.row(i) + points.columns);
  }
  std::size_t kept_rows() const { return kept.size() / info().inputs; }
  /// So many of the points, others for every i.
  MatrixView<const T> some(std::size_t i, std::size_t count) const {
    const std::size_t first = i * count % (kept_rows() - count + 1);
    return {kept.data() + first * info().inputs, count, info().inputs};
  }

  mutable std::vector<std::size_t> sizes;
  mutable std::vector<T> kept;
  mutable std::vector<double> answers;
  mutable std::uint64_t total = 0;
  mutable std::size_t largest = 0;

 private:
  const Model& model_;
  bool answers_wanted_;
  mutable std::mutex mutex_;
};

struct Case {
  std::string name;
  const Model* model = nullptr;
  std::string ball = "simplex+anti";
  std::uint64_t sample = 0;
  double precision = 0;
  std::size_t rows = 1;
  int repeats = kRepeats;
};

Matrix<double> uniform_rows(std::size_t rows, std::size_t inputs) {
  Matrix<double> x(rows, inputs);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) {
      x.row(i)[j] = draw_uniform({.stream = Stream::uniform_data, .row = i}, j);
    }
  }
  return x;
}

GammaOptions options_of(const Case& what) {
  GammaOptions options;
  options.ball = parse_ball(what.ball);
  options.ball.radius = kRadius;
  options.sample = what.sample;
  options.precision = what.precision;
  options.floor = what.precision > 0 ? 1e-12 : 0;
  return options;
}

std::vector<double> measure(const Model& model, MatrixView<const double> x, const Case& what,
                            std::size_t threads) {
  Run run{.seed = 1, .threads = threads, .ledger = Ledger(), .progress = {}, .stop = {}};
  std::vector<double> gammas;
  const auto data = make_memory_source(x);
  gamma(model, *data, options_of(what), run, [&](const GammaRow& row) { gammas.push_back(*row.gamma); });
  return gammas;
}

// One row on one thread: its points come in order, and its gamma is the plain mean of their answers.
template <class T>
void check(const Case& what, MatrixView<const double> x) {
  Recorder<T> recorder(*what.model, true);
  const double found = measure(recorder, x.slice(0, 1), what, 1).front();
  const std::vector<double>& answers = recorder.answers;
  long double sum = 0, size = 0;
  for (const double answer : answers) {
    sum += static_cast<long double>(answer) - static_cast<long double>(answers.front());
    size = std::max(size, std::abs(static_cast<long double>(answer)));
  }
  const long double expected = std::abs(sum / static_cast<long double>(answers.size() - 1));
  require(std::abs(static_cast<long double>(found) - expected) <= 1e-13L * size,
          fmt::format("{}: gamma {}; the mean of the answers is {}", what.name, found,
                      static_cast<double>(expected)));
  const MatrixView<const T> points = recorder.some(0, recorder.kept_rows());
  std::vector<double> again(points.rows);
  what.model->evaluate(points, {again.data(), again.size(), 1});
  for (std::size_t i = 0; i < points.rows; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < x.columns; ++j) {
      const double step = static_cast<double>(points.row(i)[j]) - x.row(0)[j];
      square += step * step;
    }
    const double radius = i == 0 ? 0 : kRadius;
    require(std::abs(std::sqrt(square) - radius) < 1e-5 * kRadius,
            fmt::format("{}: point {} is {} from the row", what.name, i, std::sqrt(square)));
    require(again[i] == answers[i], fmt::format("{}: point {} is answered in two ways", what.name, i));
  }
}

struct ThreeSides {
  Seconds ours, theirs, again;
  /// What the frame makes of two sides that do the same, by the clock that counts: 1 if it can be trusted.
  double steadiness(std::size_t threads) const {
    return threads == 1 ? theirs.processor / again.processor : theirs.wall / again.wall;
  }
};

// Two threads are compared by what passed on the clock, which others on the machine take part in: the least
// of nine turns of 30 ms differed by a tenth and more where both sides did the same. So the model alone is
// timed twice in every turn, and turns go on, up to a limit, until both of its times agree; what is left is
// printed.
template <class Ours, class Theirs>
ThreeSides time_until_steady(int repeats, std::size_t threads, const Ours& ours, const Theirs& theirs) {
  ThreeSides least;
  for (int i = 0; i < kMoreRepeats * repeats; ++i) {
    keep_least(least.theirs, time_once(theirs));
    keep_least(least.ours, time_once(ours));
    keep_least(least.again, time_once(theirs));
    if (i + 1 >= repeats && std::abs(least.steadiness(threads) - 1) < kSteady) break;
  }
  return least;
}

template <class T>
void compare(const Case& what, Goals& goals) {
  const Model& model = *what.model;
  const Matrix<double> x = uniform_rows(what.rows, model.info().inputs);
  check<T>(what, x.view());
  for (const std::size_t threads : {1, 2}) {
    Recorder<T> recorder(model);
    const std::vector<double> expected = measure(recorder, x.view(), what, threads);
    ThreadPool pool(threads);
    std::vector<std::vector<double>> answers(threads, std::vector<double>(recorder.largest));
    const auto raw = [&] {
      pool.run(recorder.sizes.size(), [&](std::size_t worker, std::size_t i) {
        const std::size_t count = recorder.sizes[i];
        model.evaluate(recorder.some(i, count), {answers[worker].data(), count, 1});
      });
    };
    const auto ours = [&] { require(measure(model, x.view(), what, threads) == expected, what.name); };
    const ThreeSides time = time_until_steady(what.repeats, threads, ours, raw);
    const double each = 1e9 / static_cast<double>(recorder.total);
    const double ratio = time.theirs.wall / time.ours.wall;
    const double processor_ratio = time.theirs.processor / time.ours.processor;
    fmt::print("{:<44} {:>2} {:>8} {:>6} {:>9.0f} {:>9.0f} {:>8.0f} {:>7.3f} {:>7.3f} {:>7.3f}\n", what.name,
               threads, recorder.total, recorder.sizes.front(), each * time.theirs.processor,
               each * time.ours.processor, each * (time.ours.processor - time.theirs.processor), ratio,
               processor_ratio, time.steadiness(threads));
    std::fflush(stdout);
    // One thread waits for nobody, and its processor time does not tell of others on the machine.
    goals.at_least(fmt::format("{}, {} thread{}", what.name, threads, threads == 1 ? "" : "s"), kGoal,
                   threads == 1 ? processor_ratio : ratio);
  }
}

// Steps of Busy that take this long here.
std::size_t steps_of(double microseconds) {
  constexpr std::size_t kSteps = 1000, kRows = 100;
  const Busy model(2, kSteps);
  const Matrix<double> x = uniform_rows(kRows, 2);
  std::vector<double> y(kRows);
  const auto once = [&] { model.evaluate(x.view(), {y.data(), kRows, 1}); };
  const double least = time_in_turn(50, once, once).ours.processor;
  return static_cast<std::size_t>(std::lround(microseconds * 1e-6 / (least / (kSteps * kRows))));
}

void compare_all(const std::string& only) {
  fmt::print("{:<44} {:>2} {:>8} {:>6} {:>9} {:>9} {:>8} {:>7} {:>7} {:>7}\n", "", "", "", "", "model",
             "gamma", "more", "ratio", "ratio", "model");
  fmt::print("{:<44} {:>2} {:>8} {:>6} {:>9} {:>9} {:>8} {:>7} {:>7} {:>7}\n", "", "th", "points", "batch",
             "ns/point", "ns/point", "ns/point", "wall", "cpu", "itself");
  Goals goals(1);
  const auto run = [&](const Case& what) {
    if (what.name.find(only) == std::string::npos) return;
    if (what.model->info().scalar == Scalar::float32) {
      compare<float>(what, goals);
    } else {
      compare<double>(what, goals);
    }
  };
  for (const double cost : {2.0, 10.0}) {
    const std::size_t steps = steps_of(cost);
    const auto points = static_cast<std::size_t>(kMicroseconds / cost);
    for (const std::size_t n : {2, 10, 100, 1000, 100'000, 1'000'000}) {
      // A row of a million numbers is not read in 2 µs: only a whole ball has points enough to hide that it
      // was. That of a million takes minutes, and is measured only where it is asked for.
      if (n > 1000 && cost > 2) continue;
      if (n > 100'000 && only.empty()) continue;
      const Busy model(n, steps);
      const int repeats = n < 100'000 ? kRepeats : 3;
      for (const char* ball : {"simplex+anti", "cross"}) {
        run({.name = fmt::format("{} us, n = {}, {}", cost, n, ball),
             .model = &model,
             .ball = ball,
             .rows = std::max<std::size_t>(1, points / (2 * n + 3)),
             .repeats = repeats});
      }
      if (n < 100 || n > 1000) continue;
      run({.name = fmt::format("{} us, n = {}, cross, sample 64", cost, n),
           .model = &model,
           .ball = "cross",
           .sample = 64,
           .rows = points / 129 + 1});
      run({.name = fmt::format("{} us, n = {}, simplex+anti, precision 0.2", cost, n),
           .model = &model,
           .precision = 0.2,
           .rows = points / 129 + 1});
    }
  }
  const Network network(100, 192);
  for (const char* ball : {"simplex+anti", "cross"}) {
    run({.name = fmt::format("network 100-192-1, {}", ball), .model = &network, .ball = ball, .rows = 50});
  }
  run({.name = "network 100-192-1, cross, sample 32",
       .model = &network,
       .ball = "cross",
       .sample = 32,
       .rows = 150});
  run({.name = "network 100-192-1, precision 0.2", .model = &network, .precision = 0.2, .rows = 50});
  const auto wide = make_function_model("f2", 100'000);
  run({.name = "f2, n = 100000, cross, sample 1024", .model = wide.get(), .ball = "cross", .sample = 1024});
  const auto widest = make_function_model("f2", 1'000'000);
  for (const char* ball : {"simplex+anti", "cross"}) {
    run({.name = fmt::format("f2, n = 1000000, {}, sample 256", ball),
         .model = widest.get(),
         .ball = ball,
         .sample = 256,
         .repeats = 3});
  }
  goals.print();
}

}  // namespace
}  // namespace harmonia::bench

int main(int argc, char** argv) {
  // An argument chooses the cases whose name it is a part of.
  harmonia::bench::compare_all(argc > 1 ? argv[1] : "");
}
