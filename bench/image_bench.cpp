// gamma of images through their description, against ONNX Runtime itself on the same points, which lie ready
// in memory as the network takes them, with the same number of threads and its best batch: the two in turn,
// and the median of their ratios.

#include <algorithm>
#include <array>
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
constexpr int kPairs = 15;
constexpr std::array<std::size_t, 3> kBatches{1, 4, 16};

struct Case {
  std::string name, file;
  std::size_t images, side, channels;
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

struct Fastest {
  double seconds = INFINITY;
  std::size_t batch = 0;
};

// The batch that `work` is fastest with.
template <class Work>
Fastest fastest(const Work& work) {
  Fastest best;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t batch : kBatches) {
      const double seconds = time_once([&] { work(batch); }).wall;
      if (seconds < best.seconds) best = {seconds, batch};
    }
  }
  return best;
}

void compare(const Case& what, std::size_t threads, Goals& goals) {
  ImageDescription d;
  d.shape = {what.side, what.side, what.channels};
  d.model_channels = 3;
  const auto model = open_image_model(what.file, {}, d, "bench", {});
  const std::size_t k = model->info().outputs;
  const Matrix<double> rows = random_images(what.images, d.shape.values());
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
  Matrix<float> points(what.images * (1 + 2 * what.pairs), 3 * what.side * what.side),
      answers(points.rows(), k);
  for (std::size_t i = 0; i < points.rows(); ++i) prepare(rows.row(0), what, points.row(i));
  const auto side = static_cast<std::int64_t>(what.side);
  Runtime runtime(what.file, 1, {3, side, side});
  ThreadPool pool(threads);
  const auto by_side = [&](std::size_t batch) {
    pool.run((points.rows() + batch - 1) / batch, [&](std::size_t, std::size_t i) {
      const std::size_t count = std::min(batch, points.rows() - i * batch);
      runtime.run(points.view().slice(i * batch, count), answers.view().slice(i * batch, count));
    });
  };
  by_side(1);
  const double value = *ours().rows.front().value;
  require(std::abs(value - static_cast<double>(*answers.row(0))) < 1e-4 * (1 + std::abs(value)),
          fmt::format("{}: the image's output is {}, by the runtime {}", what.name, value, *answers.row(0)));

  double spread = INFINITY;
  if (threads > 1) {
    // Gone before others are timed: for a while after a run its threads keep the cores busy, waiting.
    Runtime by_itself(what.file, static_cast<int>(threads), {3, side, side});
    spread = fastest([&](std::size_t batch) {
               for (std::size_t i = 0; i < points.rows(); i += batch) {
                 const std::size_t count = std::min(batch, points.rows() - i);
                 by_itself.run(points.view().slice(i, count), answers.view().slice(i, count));
               }
             }).seconds;
  }
  const Fastest best = fastest(by_side);
  std::vector<double> ratios;
  for (int repeat = 0; repeat < kPairs; ++repeat) {
    const double theirs = time_once([&] { by_side(best.batch); }).wall;
    ratios.push_back(theirs / time_once(ours).wall);
  }
  std::sort(ratios.begin(), ratios.end());
  const double ratio = ratios[kPairs / 2] * std::min(1.0, spread / best.seconds);
  fmt::print("{}, {} points, {}: ONNX Runtime {:.1f} images/s by {}; ratios {:.3f} … {:.3f}\n", what.name,
             points.rows(), counted(threads, "thread"),
             static_cast<double>(points.rows()) / std::min(spread, best.seconds), best.batch,
             ratios[kPairs / 4], ratios[kPairs - 1 - kPairs / 4]);
  std::fflush(stdout);
  goals.at_least(fmt::format("{}, {}", what.name, counted(threads, "thread")), kGoal, ratio);
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
    compare({"colour 224×224", file, 2, 224, 3, 40}, threads, goals);
    compare({"grey 100×100", file, 2, 100, 1, 200}, threads, goals);
    compare({"grey 28×28", file, 8, 28, 1, 392}, threads, goals);
  }
  goals.print();
}
