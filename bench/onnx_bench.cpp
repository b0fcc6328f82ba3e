// Black-box gamma of an ONNX model, against ONNX Runtime itself on the same points, which lie ready in
// memory, with the same number of threads. The runtime's side is the faster of two ways of using it, each
// with its best batch: threads that call it side by side, and one caller whose call the runtime spreads over
// its own threads.

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "onnx_runtime.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.95;
constexpr double kRadius = 0.1;
constexpr int kRepeats = 4;

struct Case {
  std::string name, file;
  std::size_t rows;
};

// The rows and the points of their cross, in the order row, +1, −1, +2, −2, ….
Matrix<float> points_of(const Matrix<double>& rows) {
  const std::size_t n = rows.columns(), each = 1 + 2 * n;
  Matrix<float> points(rows.rows() * each, n);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t p = 0; p < each; ++p) {
      float* const point = points.row(i * each + p);
      std::copy_n(rows.row(i), n, point);
      if (p == 0) continue;
      const std::size_t j = (p - 1) / 2;
      point[j] = static_cast<float>(rows.row(i)[j] + (p % 2 == 1 ? kRadius : -kRadius));
    }
  }
  return points;
}

Matrix<double> random_rows(std::size_t count, std::size_t inputs) {
  Matrix<double> rows(count, inputs);
  std::vector<float> row(inputs);
  for (std::size_t i = 0; i < count; ++i) {
    normals({.row = i}, row);  // floats: the model sees these very rows
    std::copy(row.begin(), row.end(), rows.row(i));
  }
  return rows;
}

// gamma of output 0 from the runtime's answers.
void check(const GammaResult& result, const Matrix<float>& answers, std::size_t each,
           const std::string& name) {
  for (const GammaRow& row : result.rows) {
    double sum = 0;
    const std::size_t first = row.row * each;
    for (std::size_t p = 1; p < each; ++p) sum += static_cast<double>(*answers.row(first + p));
    const double expected =
        std::abs(sum / static_cast<double>(each - 1) - static_cast<double>(*answers.row(first)));
    require(row.gamma && std::abs(*row.gamma - expected) < 1e-5 * (1 + std::abs(expected)),
            fmt::format("{}, row {}: gamma {}, from the runtime's answers {}", name, row.row,
                        row.gamma.value_or(NAN), expected));
  }
}

void compare(const Case& what, std::size_t threads, Goals& goals) {
  const auto model = open_onnx_model(what.file, {}, {});
  const std::size_t n = model->info().inputs, k = model->info().outputs;
  const Matrix<double> rows = random_rows(what.rows, n);
  Matrix<float> points = points_of(rows), answers(points.rows(), k);
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = kRadius;
  options.output = parse_output("column:0");
  const auto ours = [&] {
    Run run;
    run.threads = threads;
    return gamma(*model, rows.view(), options, run);
  };
  Runtime side_by_side(what.file, 1), spread(what.file, static_cast<int>(threads));
  ThreadPool pool(threads);
  const auto by_side = [&](std::size_t batch) {
    pool.run((points.rows() + batch - 1) / batch, [&](std::size_t, std::size_t i) {
      const std::size_t count = std::min(batch, points.rows() - i * batch);
      side_by_side.run(points.view().slice(i * batch, count), answers.view().slice(i * batch, count));
    });
  };
  const auto by_itself = [&](std::size_t batch) {
    for (std::size_t i = 0; i < points.rows(); i += batch) {
      const std::size_t count = std::min(batch, points.rows() - i);
      spread.run(points.view().slice(i, count), answers.view().slice(i, count));
    }
  };
  by_itself(1024);
  check(ours(), answers, 1 + 2 * n, what.name);
  by_side(256);
  check(ours(), answers, 1 + 2 * n, what.name);

  Seconds least, least_by_side;
  double least_by_itself = 0;
  const auto keep = [](double& seconds, double now) {
    seconds = seconds == 0 ? now : std::min(seconds, now);
  };
  const auto keep_both = [&](Seconds& seconds, const Seconds& now) {
    keep(seconds.wall, now.wall);
    keep(seconds.processor, now.processor);
  };
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t batch : {std::size_t{256}, std::size_t{512}, std::size_t{2048}}) {
      keep_both(least_by_side, time_once([&] { by_side(batch); }));
      keep_both(least, time_once(ours));
      if (threads > 1) keep(least_by_itself, time_once([&] { by_itself(batch); }).wall);
    }
  }
  const double theirs = threads > 1 ? std::min(least_by_side.wall, least_by_itself) : least_by_side.wall;
  const auto count = static_cast<double>(points.rows());
  fmt::print("{}, {} points, {}: gamma {:.0f} points/s, ONNX Runtime {:.0f}; of processor time {:.3f}\n",
             what.name, points.rows(), counted(threads, "thread"), count / least.wall, count / theirs,
             least_by_side.processor / least.processor);
  std::fflush(stdout);
  goals.at_least(fmt::format("{}, {}", what.name, counted(threads, "thread")), kGoal, theirs / least.wall);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  using namespace harmonia::bench;
  const std::string folder = HARMONIA_BENCH_MODELS;
  if (!std::filesystem::exists(folder + "/trees.onnx")) {
    fmt::print(
        stderr,
        "no models in {}; expected what `$(scripts/setup.sh --venv)/bin/python bench/onnx_models.py {}` "
        "writes\n",
        folder, folder);
    return 1;
  }
  Goals goals;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    compare({"network 784-1568-1568-10", folder + "/network.onnx", 3}, threads, goals);
    compare({"500 trees, 100 features", folder + "/trees.onnx", 100}, threads, goals);
  }
  goals.print();
}
