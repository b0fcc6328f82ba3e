// Where noise lies: the lengths of samples of both kinds of noise in the dimensions of MNIST and ImageNet,
// and what the proposition of [Bell 2024, appendix D] says of them, as printed and as it must read.
//   concentration FILE.csv MANY FEW
// writes the lengths of MANY samples in 784 dimensions and FEW in 196,608. Exit code 1 if a check fails.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "harmonia/ball/noise.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/statistics.hpp"

namespace {

using harmonia::NoiseKind;

constexpr double kRadius = 7;  // of Figure 17

bool failed = false;

void check(bool holds, const std::string& what) {
  fmt::print("  {}  {}\n", holds ? "holds" : "FAILS", what);
  failed |= !holds;
}

std::vector<double> lengths(NoiseKind kind, std::size_t n, double sigma, std::size_t count) {
  const harmonia::Noise noise({.kind = kind, .schema = {}, .directions = {}}, n, 1);
  const std::vector<double> origin(n, 0.0);
  std::vector<double> found(count);
  harmonia::ThreadPool pool(harmonia::hardware_threads());
  pool.run(count, [&](std::size_t, std::size_t k) {
    thread_local std::vector<double> point;
    point.resize(n);
    noise.put(origin, sigma, k, false, point);
    double squares = 0;
    for (const double v : point) squares += v * v;
    found[k] = std::sqrt(squares);
  });
  return found;
}

double share_within(const std::vector<double>& values, double centre, double distance) {
  const auto within =
      std::count_if(values.begin(), values.end(), [&](double v) { return std::abs(v - centre) <= distance; });
  return static_cast<double>(within) / static_cast<double>(values.size());
}

// The mean length of a normal vector of n dimensions, over sigma.
double mean_length(double n) {
  return std::sqrt(2.0) * std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2));
}

void study(std::size_t n, std::size_t count, std::ofstream& file) {
  const auto dimensions = static_cast<double>(n), samples = static_cast<double>(count);
  const double sigma = kRadius / std::sqrt(dimensions);
  const auto gaussian = lengths(NoiseKind::gaussian, n, sigma, count);
  const auto ball = lengths(NoiseKind::ball, n, kRadius, count);
  for (const double v : gaussian) file << n << ",gaussian," << v << '\n';
  for (const double v : ball) file << n << ",ball," << v << '\n';
  harmonia::Moments normal, uniform;
  for (const double v : gaussian) normal.add(v);
  for (const double v : ball) uniform.add(v);
  fmt::print("n = {}, {} samples: N(0, (7/√n)² I) has length {:.5f} ± {:.5f}, U(B_7) {:.5f} ± {:.5f}\n", n,
             count, normal.mean(), normal.deviation(), uniform.mean(), uniform.deviation());
  const double expected = sigma * mean_length(dimensions), inside = kRadius * dimensions / (dimensions + 1);
  check(std::abs(normal.mean() - expected) < 5 * normal.standard_error(),
        fmt::format("mean length of the Gaussian is {:.6f}", expected));
  check(std::abs(uniform.mean() - inside) < 5 * uniform.standard_error(),
        fmt::format("mean length in the ball is {:.6f}", inside));
  check(normal.deviation() > 10 * uniform.deviation(),
        "the Gaussian is spread ten times as far as the ball's");
  for (const double epsilon : {1.0, 2.0, 4.0}) {
    const double bound = 1 - 2 * std::exp(-epsilon * epsilon / 16);
    check(share_within(gaussian, kRadius, epsilon * sigma) >= bound - 5 / std::sqrt(samples),
          fmt::format("a share of {:.4f} within {} sigma of sigma √n; 1 − 2 exp(−ε²/16σ²) is {:.4f}",
                      share_within(gaussian, kRadius, epsilon * sigma), epsilon, bound));
    const double delta = epsilon * kRadius / dimensions;
    check(share_within(ball, kRadius, delta) >= 1 - std::exp(-epsilon) - 5 / std::sqrt(samples),
          fmt::format("a share of {:.4f} within {} r/n of the ball's surface; 1 − exp(−δn/r) is {:.4f}",
                      share_within(ball, kRadius, delta), epsilon, 1 - std::exp(-epsilon)));
  }
}

// With a large sigma the printed bound promises what is not so.
void printed_bound(std::size_t count) {
  constexpr std::size_t kDimensions = 784;
  constexpr double kSigma = 10, kEpsilon = 12;
  const auto found = lengths(NoiseKind::gaussian, kDimensions, kSigma, count);
  const double share = share_within(found, kSigma * std::sqrt(double{kDimensions}), kEpsilon);
  const double printed = 1 - 2 * std::exp(-kEpsilon * kEpsilon / 16);
  const double right = 1 - 2 * std::exp(-kEpsilon * kEpsilon / (16 * kSigma * kSigma));
  fmt::print("sigma = 10, epsilon = 12: a share of {:.4f} lies within\n", share);
  check(share < printed, fmt::format("equation 7 as printed, {:.4f}, promises more than there is", printed));
  check(share >= right,
        fmt::format("with ε²/(16σ²) it promises {:.4f}, which is kept", std::max(0.0, right)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: concentration FILE.csv MANY FEW\n");
    return 2;
  }
  std::ofstream file(argv[1]);
  if (!file) {
    fmt::print(stderr, "cannot write {}\n", argv[1]);
    return 2;
  }
  file << "n,noise,length\n";
  const auto many = static_cast<std::size_t>(std::max(100, std::atoi(argv[2])));
  study(784, many, file);
  study(196608, static_cast<std::size_t>(std::max(100, std::atoi(argv[3]))), file);
  printed_bound(many);
  return failed ? 1 : 0;
}
