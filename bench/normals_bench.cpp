// Goal 9: normal numbers from the keyed generator against std::normal_distribution, one thread.

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/random.hpp"

namespace harmonia::bench {
namespace {

constexpr std::size_t kNumbers = 1 << 14;
constexpr int kRounds = 64;
constexpr int kRepeats = 15;
constexpr DrawKey kKey{.seed = 5, .row = 3, .sample = 2};

// Box–Muller in double from the words that normals() takes; and the same bits whatever the instructions.
void check(Simd simd, const std::string& name) {
  std::vector<float> z(kNumbers), plain(kNumbers);
  normals(kKey, z, simd);
  normals(kKey, plain, Simd::scalar);
  require(z == plain, fmt::format("{}: not the bits of scalar code", name));
  for (std::size_t j = 0; j < z.size(); ++j) {
    const std::size_t group = j / 64, word = j % 64 / 16, lane = j % 16;
    const auto words = draw_words(kKey, static_cast<std::uint32_t>(16 * group + lane));
    const std::uint32_t u = words[word / 2 * 2], v = words[word / 2 * 2 + 1];
    const double uniform = std::min((static_cast<double>(u >> 1) + 0.5) * 0x1p-31, 1 - 0x1p-24);
    const double radius = std::sqrt(-2 * std::log(uniform)), angle = 2 * std::numbers::pi * 0x1p-32 * v;
    const double expected = radius * (word % 2 == 0 ? std::sin(angle) : std::cos(angle));
    require(std::abs(static_cast<double>(z[j]) - expected) < 2e-5,
            fmt::format("{}: normal {} is {}; expected {}", name, j, z[j], expected));
  }
}

template <class Generator>
void draw_standard(std::vector<float>& z) {
  Generator generator(1);
  std::normal_distribution<float> normal;
  for (int round = 0; round < kRounds; ++round)
    for (float& value : z) value = normal(generator);
}

void compare_all() {
  struct Path {
    Simd simd;
    std::string name;
    double goal;
  };
  Goals goals(9);
  for (const Path& path :
       {Path{Simd::scalar, "scalar", 0}, Path{Simd::avx2, "AVX2", 7}, Path{Simd::avx512, "AVX-512", 11}}) {
    if (static_cast<int>(path.simd) > static_cast<int>(best_simd())) continue;
    check(path.simd, path.name);
    std::vector<float> z(kNumbers);
    const auto ours = [&] {
      for (int round = 0; round < kRounds; ++round)
        normals({.sample = static_cast<std::uint64_t>(round)}, z, path.simd);
    };
    // The faster of the standard library's two generators.
    TwoSides time = time_in_turn(kRepeats, ours, [&] { draw_standard<std::mt19937>(z); });
    keep_least(time.theirs, time_in_turn(kRepeats, ours, [&] { draw_standard<std::mt19937_64>(z); }).theirs);
    const double count = 1e-9 * kNumbers * kRounds;
    fmt::print("{:<8} {:.3f} G/s; std::normal_distribution {:.3f} G/s\n", path.name,
               count / time.ours.processor, count / time.theirs.processor);
    if (path.goal == 0) continue;
    goals.at_least(fmt::format("normals / std::normal_distribution, {}", path.name), path.goal,
                   time.theirs.processor / time.ours.processor);
  }
  goals.print();
}

}  // namespace
}  // namespace harmonia::bench

int main() { harmonia::bench::compare_all(); }
