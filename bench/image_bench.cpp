// gamma of images through their description, against ONNX Runtime itself on the same points, which lie ready
// in memory as the network takes them, with the same number of threads, each with its best batch.

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/image_model.hpp"
#include "onnx_runtime.hpp"

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.95;
constexpr double kRadius = 50;
constexpr int kRepeats = 3;

struct Case {
  std::string name, file;
  std::size_t side, channels;
  std::uint64_t pairs;
};

Matrix<double> random_images(std::size_t count, std::size_t inputs) {
  Matrix<double> rows(count, inputs);
  std::vector<float> row(inputs);
  for (std::size_t i = 0; i < count; ++i) {
    normals({.row = i}, row);
    for (std::size_t j = 0; j < inputs; ++j)
      rows.row(i)[j] = std::floor(128 + 40 * std::tanh(static_cast<double>(row[j])));
  }
  return rows;
}

// One image as the network takes it: channels first, 0 … 1.
void prepare(const double* pixels, const Case& what, float* out) {
  const std::size_t count = what.side * what.side;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t p = 0; p < count; ++p) {
      const double value = what.channels == 1 ? pixels[p] : pixels[3 * p + c];
      out[c * count + p] = static_cast<float>(value / 255);
    }
  }
}

void compare(const Case& what, std::size_t threads, Goals& goals) {
  ImageDescription d;
  d.shape = {what.side, what.side, what.channels};
  d.model_channels = 3;
  const auto model = open_image_model(what.file, {}, d, "bench", {});
  const std::size_t k = model->info().outputs;
  const Matrix<double> rows = random_images(1, d.shape.values());
  GammaOptions options;
  options.ball = parse_ball("pixel");
  options.ball.image = d.shape;
  options.ball.radius = kRadius;
  options.output = parse_output("column:0");
  options.sample = what.pairs;
  const auto ours = [&] {
    Run run;
    run.threads = threads;
    return gamma(*model, rows.view(), options, run);
  };
  // As many images as gamma asks for; what is in them does not change the time.
  Matrix<float> points(1 + 2 * what.pairs, 3 * what.side * what.side), answers(points.rows(), k);
  for (std::size_t i = 0; i < points.rows(); ++i) prepare(rows.row(0), what, points.row(i));
  const auto side = static_cast<std::int64_t>(what.side);
  Runtime runtime(what.file, 1, {3, side, side}),
      spread(what.file, static_cast<int>(threads), {3, side, side});
  ThreadPool pool(threads);
  const auto by_side = [&](std::size_t batch) {
    pool.run((points.rows() + batch - 1) / batch, [&](std::size_t, std::size_t i) {
      const std::size_t count = std::min(batch, points.rows() - i * batch);
      runtime.run(points.view().slice(i * batch, count), answers.view().slice(i * batch, count));
    });
  };
  const auto by_itself = [&](std::size_t batch) {
    for (std::size_t i = 0; i < points.rows(); i += batch) {
      const std::size_t count = std::min(batch, points.rows() - i);
      spread.run(points.view().slice(i, count), answers.view().slice(i, count));
    }
  };
  by_side(1);
  const double value = *ours().rows.front().value;
  require(std::abs(value - static_cast<double>(*answers.row(0))) < 1e-4 * (1 + std::abs(value)),
          fmt::format("{}: the image's output is {}, by the runtime {}", what.name, value, *answers.row(0)));

  double least = INFINITY, theirs = INFINITY;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{16}}) {
      theirs = std::min(theirs, time_once([&] { by_side(batch); }).wall);
      if (threads > 1) theirs = std::min(theirs, time_once([&] { by_itself(batch); }).wall);
      least = std::min(least, time_once(ours).wall);
    }
  }
  const auto count = static_cast<double>(points.rows());
  fmt::print("{}, {} points, {}: gamma {:.1f} points/s, ONNX Runtime {:.1f} images/s\n", what.name,
             points.rows(), counted(threads, "thread"), count / least, count / theirs);
  std::fflush(stdout);
  goals.at_least(fmt::format("{}, {}", what.name, counted(threads, "thread")), kGoal, theirs / least);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  using namespace harmonia::bench;
  const std::string folder = HARMONIA_BENCH_MODELS, file = folder + "/images.onnx";
  if (!std::filesystem::exists(file)) {
    fmt::print(
        stderr,
        "no models in {}; expected what `$(scripts/setup.sh --venv)/bin/python bench/onnx_models.py {}` "
        "writes\n",
        folder, folder);
    return 1;
  }
  Goals goals;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    compare({"colour 224×224", file, 224, 3, 40}, threads, goals);
    compare({"grey 100×100", file, 100, 1, 400}, threads, goals);
    compare({"grey 28×28", file, 28, 1, 392}, threads, goals);
  }
  goals.print();
}
