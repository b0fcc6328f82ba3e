#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "harmonia/measure/gamma.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using test::RowFunction;

// A stated 95 % must cover at least 93 % of 1,000 repeats: a true 95 % falls below that with probability
// 0.003.
constexpr int kRepeats = 1000;
constexpr double kRequired = 0.93;
// Where many settings are tried, all of them together must, and each at least this: a true 94 % falls below
// it with probability 0.0005.
constexpr double kRequiredOfEach = 0.915;

// A network with one hidden layer, weights drawn by the seed.
RowFunction network(std::size_t n, std::size_t hidden, unsigned seed, bool smooth) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> first(n * hidden), bias(hidden), second(hidden);
  for (double& w : first) w = normal(generator) / std::sqrt(static_cast<double>(n));
  for (double& b : bias) b = normal(generator);
  for (double& w : second) w = normal(generator);
  return RowFunction(n, [=](const double* x) {
    double sum = 0;
    for (std::size_t h = 0; h < hidden; ++h) {
      double a = bias[h];
      for (std::size_t i = 0; i < n; ++i) a += first[h * n + i] * x[i];
      sum += second[h] * (smooth ? std::tanh(a) : std::max(0.0, a));
    }
    return sum;
  });
}

// Steps in a few features alone, as trees have them: most pairs change nothing.
RowFunction steps(std::size_t n, double active_share, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-0.05, 0.05);
  std::normal_distribution<double> normal;
  std::vector<double> threshold(n), size(n);
  const auto active = static_cast<std::size_t>(active_share * static_cast<double>(n));
  for (std::size_t i = 0; i < active; ++i) {
    threshold[i] = uniform(generator);
    size[i] = 1 + 0.3 * normal(generator);
  }
  return RowFunction(n, [=](const double* x) {
    double sum = 0;
    for (std::size_t i = 0; i < active; ++i) sum += x[i] > threshold[i] ? size[i] : 0;
    return sum;
  });
}

GammaOptions cross(double radius) {
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.ball.radius = radius;
  return options;
}

// How often the interval held, of all repeats and of those that gave an upper end, and how many gave none.
struct Coverage {
  double all = 0, trusted = 0, sparse = 0;
};

Coverage row_coverage(const Model& model, const GammaOptions& sampled) {
  const std::vector<double> x(model.info().inputs, 0.0);
  const MatrixView<const double> row{x.data(), 1, x.size()};
  GammaOptions whole = sampled;
  whole.sample = 0;
  whole.precision = whole.floor = 0;
  harmonia::Run exact;
  const double truth = *gamma(model, row, whole, exact).rows[0].gamma;
  int covered = 0, sparse = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    harmonia::Run run{.seed = static_cast<std::uint64_t>(repeat) + 1,
                      .threads = 1,
                      .ledger = Ledger(),
                      .progress = {},
                      .stop = {}};
    const GammaRow estimate = gamma(model, row, sampled, run).rows[0];
    sparse += estimate.high ? 0 : 1;
    covered += *estimate.low <= truth && truth <= estimate.high.value_or(INFINITY) ? 1 : 0;
  }
  return {static_cast<double>(covered) / kRepeats,
          static_cast<double>(covered - sparse) / (kRepeats - sparse),
          static_cast<double>(sparse) / kRepeats};
}

// Networks that bend in most directions, so that nearly every sample is trusted.
TEST(Coverage, OfOneRowWithAFixedSample) {
  GammaOptions options = cross(2);
  double sum = 0;
  int settings = 0;
  for (const std::uint64_t sample : {24, 40, 80}) {
    options.sample = sample;
    for (const bool smooth : {false, true}) {
      for (const unsigned seed : {1U, 2U, 3U}) {
        const Coverage result = row_coverage(network(200, 40, seed, smooth), options);
        SCOPED_TRACE(testing::Message()
                     << sample << " pairs, " << (smooth ? "tanh" : "relu") << ", network " << seed);
        EXPECT_GE(result.trusted, kRequiredOfEach);
        EXPECT_LE(result.sparse, sample == 24 ? 0.25 : 0.05);
        sum += result.trusted;
        ++settings;
      }
    }
  }
  EXPECT_GE(sum / settings, kRequired);
  RecordProperty("coverage", std::to_string(sum / settings));
}

TEST(Coverage, OfOneRowWithTheStoppingRule) {
  GammaOptions options = cross(2);
  options.precision = 0.3;
  options.floor = 1e-6;
  for (const bool smooth : {false, true}) {
    for (const unsigned seed : {1U, 2U}) {
      const Coverage result = row_coverage(network(200, 40, seed, smooth), options);
      EXPECT_GE(result.trusted, kRequired) << (smooth ? "tanh" : "relu") << ", network " << seed;
      EXPECT_EQ(result.sparse, 0);
    }
  }
}

// Networks with few kinks near the row: samples that see none of them claim nothing.
TEST(Coverage, OfOneRowNearFewKinks) {
  GammaOptions options = cross(0.5);
  for (const std::uint64_t sample : {16, 60}) {
    options.sample = sample;
    for (const unsigned seed : {1U, 2U, 3U}) {
      EXPECT_GE(row_coverage(network(200, 6, seed, false), options).all, kRequired)
          << sample << " pairs, network " << seed;
    }
  }
}

TEST(Coverage, OfOneRowWhereFewPairsChangeAnything) {
  GammaOptions options = cross(0.1);
  for (const double share : {0.01, 0.05, 0.2}) {
    for (const std::uint64_t sample : {50, 200, 600}) {
      options.sample = sample;
      EXPECT_GE(row_coverage(steps(1000, share, 5), options).all, kRequired)
          << share << " active, " << sample << " pairs";
    }
    options.sample = 0;
    options.precision = 0.3;
    options.floor = 1e-6;
    EXPECT_GE(row_coverage(steps(1000, share, 5), options).all, kRequired)
        << share << " active, stopping rule";
    options.precision = options.floor = 0;
  }
}

TEST(Coverage, OfAVectorsNormAndAngle) {
  const std::size_t n = 200;
  const RowFunction first = network(n, 6, 1, true), second = network(n, 6, 2, true),
                    third = network(n, 6, 3, true);
  const RowFunction model(n, 3, [&](const double* x, double* y) {
    const MatrixView<const double> row{x, 1, n};
    first.evaluate(row, {y, 1, 1});
    second.evaluate(row, {y + 1, 1, 1});
    third.evaluate(row, {y + 2, 1, 1});
  });
  for (const char* output : {"norm", "angle"}) {
    GammaOptions options = cross(0.5);
    options.output = parse_output(output);
    options.sample = 40;
    EXPECT_GE(row_coverage(model, options).trusted, kRequired) << output;
  }
}

// Rows are drawn afresh in every repeat; the truth is the population's mean gamma, from 20,000 rows in full.
double mean_coverage(const Model& model, const GammaOptions& sampled, std::size_t rows) {
  const std::size_t n = model.info().inputs;
  const auto draw = [n](std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Matrix<double> x(count, n);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < n; ++j) x.row(i)[j] = normal(generator);
    }
    return x;
  };
  GammaOptions whole = sampled;
  whole.sample = 0;
  harmonia::Run exact;
  const double truth = *gamma(model, draw(20000, 999).view(), whole, exact).summary.gamma.mean;
  int covered = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto seed = static_cast<unsigned>(repeat) + 1;
    harmonia::Run run{.seed = seed, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
    const GammaStatistics mean = gamma(model, draw(rows, seed).view(), sampled, run).summary.gamma;
    covered += *mean.low <= truth && truth <= mean.high.value_or(INFINITY) ? 1 : 0;
  }
  return static_cast<double>(covered) / kRepeats;
}

// Rows of which each sees too little: together they are enough, or nothing is claimed.
TEST(Coverage, OfTheMeanOverRowsThatSeeLittle) {
  GammaOptions options = cross(1);
  options.sample = 10;
  for (const std::size_t rows : {20, 200}) {
    EXPECT_GE(mean_coverage(steps(60, 0.2, 3), options, rows), kRequired) << rows << " rows";
  }
}

TEST(Coverage, OfTheMeanOverADataSet) {
  GammaOptions options = cross(0.5);
  for (const std::uint64_t sample : {0, 8, 20}) {
    options.sample = sample;
    EXPECT_GE(mean_coverage(network(40, 8, 1, false), options, 60), kRequired) << sample << " pairs, relu";
    EXPECT_GE(mean_coverage(network(40, 8, 2, true), options, 60), kRequired) << sample << " pairs, tanh";
  }
}

}  // namespace
}  // namespace harmonia
