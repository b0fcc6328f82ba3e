// Goals 6, 7 and 8: all one-hot points around rows of a dense network by differences (DenseBalls), against
// the bare matrix products of the same points by OpenBLAS, which lie ready in memory, one thread each. Bare:
// no bias and no bend while they are timed. Weights are random (He), rows are images of a few blurred spots,
// 0 to 1.

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "../tests/support/dense_networks.hpp"
#include "bench.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/model/dense_balls.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 3;
constexpr std::size_t kSide = 28;

// OpenBLAS, loaded when it runs: nothing else here needs it.
class Blas {
 public:
  explicit Blas(const std::string& folder) {
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    library_ = dlopen((folder + "/libblas.so.3").c_str(), RTLD_NOW | RTLD_LOCAL);
    require(library_ != nullptr, folder + "/libblas.so.3 cannot be loaded");
    sgemm_ = symbol<float>("sgemm_");
    dgemm_ = symbol<double>("dgemm_");
  }

  // y (rows × outputs) = x (rows × inputs) · weightsᵀ. BLAS counts by columns, and sees all of it transposed.
  void multiply(const std::vector<float>& weights, const float* x, std::size_t rows, std::size_t inputs,
                std::size_t outputs, float* y) const {
    call(sgemm_, weights, x, rows, inputs, outputs, y);
  }
  void multiply(const std::vector<double>& weights, const double* x, std::size_t rows, std::size_t inputs,
                std::size_t outputs, double* y) const {
    call(dgemm_, weights, x, rows, inputs, outputs, y);
  }

 private:
  template <class T>
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
                    const int*, const T*, const int*, const T*, T*, const int*);

  template <class T>
  Gemm<T>* symbol(const char* name) const {
    auto* found = reinterpret_cast<Gemm<T>*>(dlsym(library_, name));
    require(found != nullptr, fmt::format("the BLAS has no {}", name));
    return found;
  }

  template <class T>
  static void call(Gemm<T>* gemm, const std::vector<T>& weights, const T* x, std::size_t rows,
                   std::size_t inputs, std::size_t outputs, T* y) {
    const int m = static_cast<int>(outputs), n = static_cast<int>(rows), k = static_cast<int>(inputs);
    const T one = 1, zero = 0;
    gemm("T", "N", &m, &n, &k, &one, weights.data(), &k, x, &k, &zero, y, &m);
  }

  void* library_ = nullptr;
  Gemm<float>* sgemm_ = nullptr;
  Gemm<double>* dgemm_ = nullptr;
};

DenseNetwork random_network(const std::vector<std::size_t>& widths) {
  DenseActivation bend;
  bend.kind = DenseActivation::Kind::leaky;
  return test::random_dense(widths, bend);
}

// Six spots an image, blurred, with some noise on them.
Matrix<double> spotted_images(std::size_t count) {
  Matrix<double> rows(count, kSide * kSide);
  std::vector<float> noise(kSide * kSide);
  for (std::size_t i = 0; i < count; ++i) {
    normals({.row = i, .sample = 7}, noise);
    for (std::size_t spot = 0; spot < 6; ++spot) {
      const auto draw = [&](std::uint64_t which, std::uint64_t below) {
        return static_cast<double>(draw_below({.row = i, .sample = 8 * spot + which}, below));
      };
      const double across = 6 + draw(0, 16), down = 6 + draw(1, 16), width = 1.5 + draw(2, 100) / 60;
      for (std::size_t j = 0; j < noise.size(); ++j) {
        const std::size_t line = j / kSide;
        const double dx = static_cast<double>(j % kSide) - across, dy = static_cast<double>(line) - down;
        rows.row(i)[j] += 0.8 * std::exp(-(dx * dx + dy * dy) / (2 * width * width));
      }
    }
    for (std::size_t j = 0; j < noise.size(); ++j) {
      double& pixel = rows.row(i)[j];
      if (pixel > 0.02) pixel += 0.15 * static_cast<double>(noise[j]);
      pixel = static_cast<double>(static_cast<float>(std::clamp(pixel, 0.0, 1.0)));
    }
  }
  return rows;
}

// The first points of the cross around a row, in the order row, +1, −1, +2, −2, ….
template <class T>
std::vector<T> cross_points(const double* x, std::size_t n, double radius, std::size_t points) {
  std::vector<T> all((1 + points) * n);
  for (std::size_t p = 0; p <= points; ++p) {
    std::copy_n(x, n, all.begin() + static_cast<std::ptrdiff_t>(p * n));
    if (p == 0) continue;
    const std::size_t j = (p - 1) / 2;
    all[p * n + j] = static_cast<T>(static_cast<float>(x[j] + (p % 2 == 1 ? radius : -radius)));
  }
  return all;
}

// All layers of some rows; bare: their products alone.
template <class T>
class Forward {
 public:
  Forward(const Blas& blas, const DenseNetwork& network) : blas_(blas), network_(network) {
    for (const DenseLayer& layer : network.layers)
      weights_.emplace_back(layer.weights.begin(), layer.weights.end());
    between_.resize(network.layers.size());
  }

  const std::vector<T>& run(const T* x, std::size_t rows, bool bare) {
    for (std::size_t l = 0; l < network_.layers.size(); ++l) {
      const DenseLayer& layer = network_.layers[l];
      std::vector<T>& out = between_[l];
      if (out.size() < rows * layer.outputs) out.resize(rows * layer.outputs);
      blas_.multiply(weights_[l], x, rows, layer.inputs, layer.outputs, out.data());
      for (std::size_t i = 0; !bare && i < rows * layer.outputs; ++i) {
        out[i] += static_cast<T>(layer.bias[i % layer.outputs]);
        if (l + 1 < network_.layers.size()) out[i] = std::max(out[i], T{0});
      }
      x = out.data();
    }
    return between_.back();
  }

  /// Half the sum over the cross of f(point) − f(row), of every output.
  std::vector<double> sum(const double* row, double radius) {
    const std::size_t n = network_.inputs(), outputs = network_.outputs();
    const std::vector<T> points = cross_points<T>(row, n, radius, 2 * n);
    const std::vector<T>& y = run(points.data(), 1 + 2 * n, false);
    std::vector<double> sums(outputs);
    for (std::size_t p = 1; p <= 2 * n; ++p) {
      for (std::size_t k = 0; k < outputs; ++k)
        sums[k] += 0.5 * (static_cast<double>(y[p * outputs + k]) - static_cast<double>(y[k]));
    }
    return sums;
  }

 private:
  const Blas& blas_;
  const DenseNetwork& network_;
  std::vector<std::vector<T>> weights_, between_;
};

double distance(const std::vector<double>& a, const double* b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(square);
}

// Balls around rows, and what DenseBalls makes of them.
struct Ours {
  Ours(const DenseNetwork& network, const Matrix<double>& rows, double radius,
       const DenseBallOptions& options)
      : ball(cross(radius), {}, 1), balls(network, ball, options) {
    for (std::size_t i = 0; i < rows.rows(); ++i)
      around.emplace_back(ball, std::span<const double>(rows.row(i), rows.columns()), i);
    for (const RowBall& each : around) asked.push_back(&each);
    centres.resize(rows.rows(), network.outputs());
    sums.resize(rows.rows(), network.outputs());
  }
  static BallOptions cross(double radius) {
    BallOptions options = parse_ball("cross");
    options.radius = radius;
    return options;
  }
  void run() { balls.sums(asked, centres.view(), sums.view()); }

  Ball ball;
  DenseBalls balls;
  std::vector<RowBall> around;
  std::vector<const RowBall*> asked;
  Matrix<double> centres, sums;
};

struct Errors {
  double ours = 0, single = 0;
};

// Against double precision; the benchmark ends where ours is wrong.
Errors check(const Blas& blas, const DenseNetwork& network, const Matrix<double>& rows, double radius,
             const Ours& ours, std::size_t checked) {
  Forward<double> exact(blas, network);
  Forward<float> single(blas, network);
  Errors errors;
  for (std::size_t i = 0; i < checked; ++i) {
    const std::vector<double> truth = exact.sum(rows.row(i), radius);
    const double mine = distance(truth, ours.sums.row(i)),
                 theirs = distance(truth, single.sum(rows.row(i), radius).data());
    const std::vector<double> nothing(truth.size());
    require(mine <= 1e-3 * distance(truth, nothing.data()) && mine <= theirs,
            fmt::format("radius {}, row {}: error {}, of single precision {}, of {}", radius, i, mine, theirs,
                        distance(truth, nothing.data())));
    errors.ours += mine * mine;
    errors.single += theirs * theirs;
  }
  return {std::sqrt(errors.ours), std::sqrt(errors.single)};
}

void two_layers(const Blas& blas, Goals& goals) {
  const DenseNetwork network = random_network({kSide * kSide, 1568, 1568, 10});
  const std::size_t n = network.inputs();
  const Matrix<double> rows = spotted_images(16);
  struct Step {
    double radius, goal;
  };
  for (const Step& step : {Step{0.02, 40}, Step{0.1, 14}, Step{0.3, 6}, Step{1, 1.5}}) {
    Ours ours(network, rows, step.radius, {});
    ours.run();
    const Errors errors = check(blas, network, rows, step.radius, ours, 2);
    const std::vector<float> points = cross_points<float>(rows.row(0), n, step.radius, 2 * n);
    Forward<float> forward(blas, network);
    Seconds mine, theirs;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      for (const std::size_t batch : {n / 2, n, 2 * n}) {
        keep_least(theirs, time_once([&] {
                     for (std::size_t p = 0; p < 2 * n; p += batch)
                       forward.run(points.data() + (1 + p) * n, batch, true);
                   }));
      }
      keep_least(mine, time_once([&] { ours.run(); }));
    }
    const double each = mine.processor / static_cast<double>(rows.rows());
    fmt::print(
        "784-1568-1568-10, radius {}: {:.2f} ms a row, OpenBLAS {:.1f} ms; error {:.2g}, of single precision "
        "{:.2g}\n",
        step.radius, 1e3 * each, 1e3 * theirs.processor, errors.ours, errors.single);
    std::fflush(stdout);
    goals.of(6);
    goals.at_least(fmt::format("784-1568-1568-10, radius {}, against OpenBLAS", step.radius), step.goal,
                   theirs.processor / each);
    goals.of(8);
    goals.at_least(fmt::format("784-1568-1568-10, radius {}, error of float32 to ours", step.radius),
                   step.radius <= 0.1 ? 20 : 1, errors.single / errors.ours);
  }
}

// One hidden layer, in the time that OpenBLAS takes for a row in a batch.
void one_layer(const Blas& blas, Goals& goals) {
  constexpr std::size_t kInputs = 10000, kRows = 64, kBatch = 1024;
  const DenseNetwork network = random_network({kInputs, 512, 10});
  Matrix<double> rows(kRows, kInputs);
  std::vector<float> drawn(kInputs);
  for (std::size_t i = 0; i < kRows; ++i) {
    normals({.row = i, .sample = 9}, drawn);
    for (std::size_t j = 0; j < kInputs; ++j) rows.row(i)[j] = 0.5 * static_cast<double>(std::abs(drawn[j]));
  }
  constexpr double kRadius = 0.5;
  Ours ours(network, rows, kRadius, {});
  ours.run();
  const Errors errors = check(blas, network, rows, kRadius, ours, 1);
  const std::vector<float> points = cross_points<float>(rows.row(0), kInputs, kRadius, kBatch);
  Forward<float> forward(blas, network);
  const TwoSides time = time_in_turn(
      kRepeats, [&] { ours.run(); }, [&] { forward.run(points.data() + kInputs, kBatch, true); });
  const double each = time.ours.processor / kRows, row = time.theirs.processor / kBatch;
  fmt::print(
      "10000-512-10, 20000 points, radius {}: {:.3f} ms a row, one row by OpenBLAS {:.3f} ms; error {:.2g}, "
      "of single precision {:.2g}\n",
      kRadius, 1e3 * each, 1e3 * row, errors.ours, errors.single);
  goals.of(7);
  goals.at_most("10000-512-10, all 20000 points, in rows of OpenBLAS", 2, each / row);
  goals.of(8);
  goals.at_least("10000-512-10, error of float32 to ours", 20, errors.single / errors.ours);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  using namespace harmonia::bench;
  const std::string folder = HARMONIA_OPENBLAS_FOLDER;
  if (folder.empty()) {
    fmt::print("no OpenBLAS to compare with; `scripts/setup.sh torch` installs it, then configure again\n");
    return 0;
  }
  const Blas blas(folder);
  Goals goals;
  two_layers(blas, goals);
  one_layer(blas, goals);
  goals.print();
}
