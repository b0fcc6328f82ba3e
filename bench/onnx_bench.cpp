// Goal 1 on a real engine: black-box gamma of an ONNX model, against ONNX Runtime itself on the same points,
// which lie ready in memory, with the same number of threads. The runtime's side is the faster of two ways of
// using it, each with its best batch: threads that call it side by side, and one caller whose call the
// runtime spreads over its own threads.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "crosses.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "onnx_runtime.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.97;
constexpr double kRadius = 0.1;
constexpr int kRepeats = 4;

struct Case {
  std::string name, file;
  std::size_t rows;
};

void compare(const Case& what, std::size_t threads, Goals& goals) {
  ModelOptions points_alone;
  points_alone.fast_path = false;
  const auto model = open_onnx_model(what.file, points_alone, {});
  const std::size_t n = model->info().inputs, k = model->info().outputs;
  const Matrix<double> rows = random_rows(what.rows, n);
  Matrix<float> points = cross_points(rows, kRadius), answers(points.rows(), k);
  const GammaOptions options = cross_options(kRadius);
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
  check_crosses(ours(), answers, what.name);
  by_side(256);
  check_crosses(ours(), answers, what.name);

  Seconds least, least_by_side, least_by_itself;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t batch : {std::size_t{256}, std::size_t{512}, std::size_t{2048}}) {
      keep_least(least_by_side, time_once([&] { by_side(batch); }));
      keep_least(least, time_once(ours));
      if (threads > 1) keep_least(least_by_itself, time_once([&] { by_itself(batch); }));
    }
  }
  const double theirs = threads > 1 ? std::min(least_by_side.wall, least_by_itself.wall) : least_by_side.wall;
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
  Goals goals(1);
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    compare({"ONNX network 784-1568-1568-10", folder + "/network.onnx", 3}, threads, goals);
    compare({"ONNX, 500 trees, 100 features", folder + "/trees.onnx", 100}, threads, goals);
  }
  goals.print();
}
