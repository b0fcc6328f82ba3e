#include "harmonia/text/text_angle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace harmonia {
namespace {

constexpr double kPi = std::numbers::pi;

// Embeddings with 384 numbers: cos·e0 + sin·e1, of a length of our own.
std::vector<float> at_angle(double angle, double length = 1) {
  std::vector<float> v(384, 0.0F);
  v[0] = static_cast<float>(length * std::cos(angle));
  v[1] = static_cast<float>(length * std::sin(angle));
  return v;
}

Matrix<float> rows_of(const std::vector<std::vector<float>>& vectors) {
  Matrix<float> rows(vectors.size(), vectors.empty() ? 0 : vectors.front().size());
  for (std::size_t i = 0; i < vectors.size(); ++i)
    std::copy(vectors[i].begin(), vectors[i].end(), rows.row(i));
  return rows;
}

TextGamma gamma_of(const std::vector<float>& answer, const std::vector<std::vector<float>>& variants,
                   const std::vector<std::vector<float>>& repeats = {}) {
  return text_gamma(answer, rows_of(variants).view(), rows_of(repeats).view(), 0.95);
}

TEST(TextAngle, SmallAnglesAreRecoveredFromFloats) {
  std::mt19937 draw(1);
  std::normal_distribution<double> normal;
  for (const double angle : {1e-6, 1e-4, 1e-3, 0.1, 1.0, 2.0, 3.1}) {
    // A random direction and one across it.
    std::vector<double> a(384), b(384);
    for (std::size_t j = 0; j < a.size(); ++j) a[j] = normal(draw), b[j] = normal(draw);
    double aa = 0, ab = 0, bb = 0;
    for (std::size_t j = 0; j < a.size(); ++j) aa += a[j] * a[j], ab += a[j] * b[j];
    for (std::size_t j = 0; j < a.size(); ++j) b[j] -= ab / aa * a[j], bb += b[j] * b[j];
    std::vector<float> u(384), v(384);
    for (std::size_t j = 0; j < a.size(); ++j) {
      u[j] = static_cast<float>(a[j] / std::sqrt(aa));
      v[j] = static_cast<float>(
          7 * (std::cos(angle) * a[j] / std::sqrt(aa) + std::sin(angle) * b[j] / std::sqrt(bb)));
    }
    EXPECT_NEAR(angle_between(u, v), angle, 2e-7) << angle;
  }
  EXPECT_NEAR(angle_between(at_angle(0), at_angle(kPi)), kPi, 1e-7);
}

TEST(TextAngle, ConventionsHaveTheirClosedForms) {
  const double angle = 0.7;
  EXPECT_EQ(in_convention(angle, AngleConvention::angle), angle);
  EXPECT_DOUBLE_EQ(in_convention(angle, AngleConvention::chord), std::sqrt(2 - 2 * std::cos(angle)));
  EXPECT_DOUBLE_EQ(in_convention(angle, AngleConvention::sin), std::sin(angle));
  EXPECT_DOUBLE_EQ(in_convention(angle, AngleConvention::paper), std::sqrt(1 - std::cos(angle)));
  const Interval turned = in_convention(Interval{1.0, 2.5}, AngleConvention::sin);
  EXPECT_DOUBLE_EQ(turned.low, std::sin(2.5));
  EXPECT_EQ(turned.high, 1);
  for (const std::string_view name : {"angle", "chord", "sin", "paper"})
    EXPECT_EQ(convention_name(convention_of(name).value()), name);
  EXPECT_FALSE(convention_of("degrees"));
}

TEST(TextAngle, BandsAreTheAuthors) {
  EXPECT_EQ(trust_band(0.0999), TrustBand::trustworthy);
  EXPECT_EQ(trust_band(0.1), TrustBand::possible);
  EXPECT_EQ(trust_band(0.2), TrustBand::possible);
  EXPECT_EQ(trust_band(0.2001), TrustBand::likely);
}

TEST(TextGamma, IdenticalAnswersGiveExactlyZero) {
  std::mt19937 draw(3);
  std::normal_distribution<float> normal;
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<float> answer(384);
    for (float& value : answer) value = normal(draw);
    const TextGamma found = gamma_of(answer, {7, answer}, {3, answer});
    EXPECT_EQ(found.plain, 0);
    EXPECT_EQ(found.gamma, 0);
    EXPECT_EQ(found.interval->low, 0);
    EXPECT_EQ(found.interval->high, 0);
    EXPECT_EQ(found.resultant, 1);
    EXPECT_EQ(found.floor, 0);
    EXPECT_EQ(found.excess, 0);
    EXPECT_EQ(found.changed, 0U);
  }
}

TEST(TextGamma, OppositeAnswersAreSeenInTheResultant) {
  // Half the answers to one side, half to the other: the mean points where the answer does.
  const TextGamma found =
      gamma_of(at_angle(0), {at_angle(1.5), at_angle(-1.5), at_angle(1.5), at_angle(-1.5)});
  EXPECT_NEAR(found.plain, 0, 1e-7);
  EXPECT_NEAR(found.resultant, std::cos(1.5), 1e-6);
  EXPECT_LT(found.resultant, kShortResultant);
  EXPECT_EQ(found.changed, 4U);
  // Two that cancel exactly have a mean without a direction.
  EXPECT_NEAR(gamma_of(at_angle(0), {at_angle(kPi / 2), at_angle(-kPi / 2)}).resultant, 0, 1e-7);
}

TEST(TextGamma, ConstantShiftIsTheAngleItself) {
  const TextGamma found = gamma_of(at_angle(0), {at_angle(0.3), at_angle(0.3), at_angle(0.3, 5)});
  EXPECT_NEAR(found.plain, 0.3, 1e-7);
  EXPECT_NEAR(found.gamma, 0.3, 1e-7);
  EXPECT_NEAR(found.interval->low, 0.3, 1e-6);
  EXPECT_NEAR(found.interval->high, 0.3, 1e-6);
}

TEST(TextGamma, FloorIsTheScatterOfRepeatsAndExcessWhatIsLeft) {
  // Repeats at ±0.1 around the answer at 0: Σ‖r − mean‖²/(n − 1) with the mean on the answer's line.
  const double s = std::sin(0.1), c = std::cos(0.1), mean = (1 + 2 * c) / 3;
  const double variance = (2 * (s * s + (c - mean) * (c - mean)) + (1 - mean) * (1 - mean)) / 2;
  const TextGamma found =
      gamma_of(at_angle(0), {at_angle(0.3), at_angle(0.3)}, {at_angle(0.1), at_angle(-0.1)});
  EXPECT_NEAR(found.floor.value(), std::sqrt(variance), 1e-7);
  EXPECT_NEAR(found.excess.value(), std::sqrt(0.09 - variance), 1e-6);
  EXPECT_EQ(gamma_of(at_angle(0), {at_angle(0.05), at_angle(0.05)}, {at_angle(0.1), at_angle(-0.1)}).excess,
            0);
}

// Answers that scatter around a direction, or fall into a few kinds, as those of a language model do.
struct Answers {
  double shift = 0;    // angle from the answer to the middle of the variants'
  double scatter = 0;  // of each of the directions
  double share = 0;    // of variants that answer something else ...
  double other = 0;    // ... at this angle
};

constexpr std::size_t kWidth = 30;

std::vector<float> draw_answer(const Answers& how, std::mt19937& draw) {
  std::normal_distribution<double> normal;
  std::bernoulli_distribution differs(how.share);
  const double angle = differs(draw) ? how.other : how.shift;
  std::vector<float> v(kWidth, 0.0F);
  for (std::size_t j = 0; j < v.size(); ++j) {
    const double middle = j == 0 ? std::cos(angle) : j == 1 ? std::sin(angle) : 0;
    v[j] = static_cast<float>(middle + how.scatter * normal(draw));
  }
  return v;
}

std::vector<float> exact_answer() {
  std::vector<float> v(kWidth, 0.0F);
  v[0] = 1;
  return v;
}

// The angle to the mean of very many variants.
double true_angle(const Answers& how) {
  if (how.share > 0) {
    const double x = 1 - how.share + how.share * std::cos(how.other), y = how.share * std::sin(how.other);
    return std::atan2(y, x);  // the scatter, if any, is the same all around
  }
  return how.shift;
}

// With 1,000 runs a true coverage of 0.93 is taken for one below 0.90 with probability 2e-4.
TEST(CoverageOfTextGamma, IntervalsCoverTheAngleToTheMeanOfAllVariants) {
  std::mt19937 draw(5);
  for (const std::size_t n : {10U, 30U}) {
    for (const Answers& how :
         {Answers{0.0, 0.05, 0, 0}, Answers{0.1, 0.05, 0, 0}, Answers{0.5, 0.05, 0, 0},
          Answers{0.3, 0.2, 0, 0}, Answers{0, 0, 0.5, 1.0}, Answers{0, 0.02, 0.4, 0.6}}) {
      const std::vector<float> answer = exact_answer();
      int covered = 0;
      double squares = 0, plain = 0;
      constexpr int kRuns = 1000;
      for (int run = 0; run < kRuns; ++run) {
        std::vector<std::vector<float>> variants;
        for (std::size_t i = 0; i < n; ++i) variants.push_back(draw_answer(how, draw));
        const TextGamma found = gamma_of(answer, variants);
        covered += found.interval->low <= true_angle(how) && true_angle(how) <= found.interval->high;
        squares += found.gamma * found.gamma / kRuns;
        plain += found.plain * found.plain / kRuns;
      }
      EXPECT_GE(covered, 900) << n << " variants, shift " << how.shift << ", scatter " << how.scatter;
      // What a finite number of variants scatters is in the plain value, and taken from gamma.
      EXPECT_LT(std::abs(squares - std::pow(true_angle(how), 2)),
                std::abs(plain - std::pow(true_angle(how), 2)));
    }
  }
}

}  // namespace
}  // namespace harmonia
