// Black-box gamma of a TorchScript network on the processor, against the bare matrix products of the same
// network by OpenBLAS on the same points, which lie ready in memory, with the same number of threads. The
// bare side adds no bias and bends nothing while it is timed, and is the faster of two ways, each with its
// best batch: threads that multiply side by side, and one caller whose product OpenBLAS spreads over its own
// threads.

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "crosses.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/torch_model.hpp"

extern "C" void omp_set_num_threads(int threads);  // of <omp.h>, which clang-tidy does not have
// NOLINTNEXTLINE(readability-identifier-naming): BLAS names it so
extern "C" void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda, const float* b,
                       const int* ldb, const float* beta, float* c, const int* ldc);

namespace harmonia::bench {
namespace {

constexpr double kGoal = 0.9;
constexpr double kRadius = 0.1;
constexpr int kRepeats = 5;
constexpr std::size_t kRows = 4;
constexpr std::array<int, 4> kSizes{784, 1568, 1568, 10};
constexpr std::size_t kLayers = kSizes.size() - 1;

struct Layer {
  std::vector<float> weights, bias;  // outputs × inputs
};

std::vector<Layer> read_weights(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const auto numbers = [&](int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    in.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
    return values;
  };
  std::vector<Layer> layers;
  for (std::size_t l = 0; l < kLayers; ++l) {
    Layer layer{numbers(kSizes[l] * kSizes[l + 1]), {}};
    layer.bias = numbers(kSizes[l + 1]);
    layers.push_back(std::move(layer));
  }
  require(bool(in), file + " is too short");
  return layers;
}

// y (rows × outputs) = x (rows × inputs) · weightsᵀ. BLAS counts by columns, and sees all of it transposed.
void multiply(const float* x, const Layer& layer, std::size_t l, int rows, float* y) {
  const int inputs = kSizes[l], outputs = kSizes[l + 1];
  const float one = 1, zero = 0;
  sgemm_("T", "N", &outputs, &rows, &inputs, &one, layer.weights.data(), &inputs, x, &inputs, &zero, y,
         &outputs);
}

// The layers of one batch, with bias and bend if the whole answer is wanted.
void run_layers(const std::vector<Layer>& layers, MatrixView<const float> x, float* y, bool whole) {
  thread_local std::array<std::vector<float>, kLayers> between;
  const float* in = x.data;
  for (std::size_t l = 0; l < kLayers; ++l) {
    const auto outputs = static_cast<std::size_t>(kSizes[l + 1]);
    const bool last = l + 1 == kLayers;
    if (!last && between[l].size() < x.rows * outputs) between[l].resize(x.rows * outputs);
    float* const out = last ? y : between[l].data();
    multiply(in, layers[l], l, static_cast<int>(x.rows), out);
    for (std::size_t i = 0; whole && i < x.rows * outputs; ++i) {
      out[i] += layers[l].bias[i % outputs];
      if (!last) out[i] = std::max(out[i], 0.0F);
    }
    in = out;
  }
}

class Products {
 public:
  Products(const std::vector<Layer>& layers, const Matrix<float>& points, std::size_t threads)
      : layers_(layers), points_(points), answers_(points.rows(), kSizes.back()), pool_(threads) {}

  const Matrix<float>& answers() const { return answers_; }

  void side_by_side(std::size_t batch, bool whole = false) {
    pool_.run((points_.rows() + batch - 1) / batch, [&](std::size_t, std::size_t i) {
      omp_set_num_threads(1);  // of this thread's products
      run(i * batch, batch, whole);
    });
  }

  void by_itself(std::size_t batch) {
    omp_set_num_threads(static_cast<int>(pool_.threads()));
    for (std::size_t i = 0; i < points_.rows(); i += batch) run(i, batch, false);
    omp_set_num_threads(1);
  }

 private:
  void run(std::size_t first, std::size_t batch, bool whole) {
    const std::size_t count = std::min(batch, points_.rows() - first);
    run_layers(layers_, points_.view().slice(first, count), answers_.row(first), whole);
  }

  const std::vector<Layer>& layers_;
  const Matrix<float>& points_;
  Matrix<float> answers_;
  ThreadPool pool_;
};

void compare(const Model& model, const std::vector<Layer>& layers, std::size_t threads, Goals& goals) {
  const Matrix<double> rows = random_rows(kRows, kSizes.front());
  const Matrix<float> points = cross_points(rows, kRadius);
  const GammaOptions options = cross_options(kRadius);
  const auto ours = [&] {
    Run run;
    run.threads = threads;
    return gamma(model, rows.view(), options, run);
  };
  Products products(layers, points, threads);
  products.side_by_side(512, true);
  check_crosses(ours(), products.answers(), "784-1568-1568-10");

  Seconds least, theirs;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const std::size_t batch : {std::size_t{512}, std::size_t{1024}, std::size_t{2048}}) {
      keep_least(theirs, time_once([&] { products.side_by_side(batch); }));
      keep_least(least, time_once(ours));
      if (threads > 1) keep_least(theirs, time_once([&] { products.by_itself(batch); }));
    }
  }
  const auto count = static_cast<double>(points.rows());
  fmt::print(
      "network 784-1568-1568-10, {} points, {}: gamma {:.0f} points/s, OpenBLAS {:.0f}; of processor time "
      "{:.3f}\n",
      points.rows(), counted(threads, "thread"), count / least.wall, count / theirs.wall,
      theirs.processor / least.processor);
  std::fflush(stdout);
  goals.at_least(fmt::format("TorchScript 784-1568-1568-10, {}", counted(threads, "thread")), kGoal,
                 theirs.wall / least.wall);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  using namespace harmonia::bench;
  const std::string folder = HARMONIA_BENCH_MODELS, file = folder + "/network.pt";
  if (!std::ifstream(file)) {
    fmt::print(stderr, "no {}; expected what `/usr/bin/python3 bench/torch_models.py {}` writes\n", file,
               folder);
    return 1;
  }
  setenv("HARMONIA_TORCH", HARMONIA_TORCH_LIBRARY, 0);
  const std::vector<double> example(784);
  const auto model = harmonia::open_torch_model(file, {}, example);
  const auto layers = read_weights(folder + "/network.weights");
  Goals goals;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) compare(*model, layers, threads, goals);
  goals.print();
}
