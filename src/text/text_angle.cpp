#include "harmonia/text/text_angle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

namespace harmonia {
namespace {

constexpr std::array<std::string_view, 4> kConventions{"angle", "chord", "sin", "paper"};
constexpr std::array<std::string_view, 3> kBands{"probably trustworthy", "possible hallucination",
                                                 "likely hallucination"};
constexpr double kPossible = 0.1, kLikely = 0.2;  // bounds of the authors' interface

using Vector = std::vector<double>;

double length(const Vector& v) {
  double square = 0;
  for (const double component : v) square += component * component;
  return std::sqrt(square);
}

// The unit vector; of 0, 0.
Vector unit(Vector v) {
  const double size = length(v);
  if (size == 0) return v;
  for (double& component : v) component /= size;
  return v;
}

Vector unit(std::span<const float> v) { return unit(Vector(v.begin(), v.end())); }

std::vector<Vector> units(MatrixView<const float> rows) {
  std::vector<Vector> all;
  for (std::size_t i = 0; i < rows.rows; ++i)
    all.push_back(unit(std::span<const float>(rows.row(i), rows.columns)));
  return all;
}

// Of unit vectors. A mean of answers that cancel has no direction: it is across.
double angle_of_units(const Vector& u, const Vector& v) {
  double apart = 0, together = 0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    apart += (u[j] - v[j]) * (u[j] - v[j]);
    together += (u[j] + v[j]) * (u[j] + v[j]);
  }
  return 2 * std::atan2(std::sqrt(apart), std::sqrt(together));
}

// The base and the mean of differences to it: vectors that are all alike have exactly that mean.
Vector moved(const Vector& base, const Vector& sum, double count) {
  Vector mean = base;
  for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += sum[j] / count;
  return mean;
}

// Σ‖v − mean‖²/(n − 1) of unit vectors.
double scatter(const std::vector<Vector>& vectors) {
  if (vectors.size() < 2) return 0;
  Vector sum(vectors.front().size(), 0.0);
  for (const Vector& v : vectors)
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += v[j] - vectors.front()[j];
  const Vector mean = moved(vectors.front(), sum, static_cast<double>(vectors.size()));
  double squares = 0;
  for (const Vector& v : vectors)
    for (std::size_t j = 0; j < mean.size(); ++j) squares += (v[j] - mean[j]) * (v[j] - mean[j]);
  return squares / static_cast<double>(vectors.size() - 1);
}

double angle_of_square(double square) { return std::min(std::sqrt(std::max(square, 0.0)), std::numbers::pi); }

}  // namespace

std::string_view convention_name(AngleConvention convention) {
  return kConventions[static_cast<std::size_t>(convention)];
}

std::optional<AngleConvention> convention_of(std::string_view name) {
  const auto found = std::find(kConventions.begin(), kConventions.end(), name);
  if (found == kConventions.end()) return {};
  return static_cast<AngleConvention>(found - kConventions.begin());
}

double in_convention(double angle, AngleConvention convention) {
  switch (convention) {
    case AngleConvention::angle:
      return angle;
    case AngleConvention::chord:
      return 2 * std::sin(angle / 2);
    case AngleConvention::sin:
      return std::sin(angle);
    case AngleConvention::paper:
      return std::numbers::sqrt2 * std::sin(angle / 2);
  }
  return angle;
}

Interval in_convention(const Interval& angle, AngleConvention convention) {
  const double low = in_convention(angle.low, convention), high = in_convention(angle.high, convention);
  if (convention != AngleConvention::sin) return {low, high};
  // The sine turns at a right angle.
  const bool turns = angle.low < std::numbers::pi / 2 && angle.high > std::numbers::pi / 2;
  return {std::min(low, high), turns ? 1 : std::max(low, high)};
}

double angle_between(std::span<const float> u, std::span<const float> v) {
  return angle_of_units(unit(u), unit(v));
}

TrustBand trust_band(double paper_value) {
  if (paper_value < kPossible) return TrustBand::trustworthy;
  return paper_value <= kLikely ? TrustBand::possible : TrustBand::likely;
}

std::string_view band_name(TrustBand band) { return kBands[static_cast<std::size_t>(band)]; }

TrustBand band_of(const TextGamma& gamma) {
  return trust_band(in_convention(gamma.plain, AngleConvention::paper));
}

double text_scatter(MatrixView<const float> rows) { return std::sqrt(scatter(units(rows))); }

TextGamma text_gamma(std::span<const float> answer, MatrixView<const float> variants,
                     MatrixView<const float> repeats, double confidence) {
  TextGamma result;
  result.variants = variants.rows;
  const Vector centre = unit(answer);
  // Both are made unit vectors in the same way, so that a mean with the answer's bits is at exactly 0.
  const auto angle_to = [toward = unit(centre)](const Vector& mean) {
    return angle_of_units(toward, unit(mean));
  };
  const std::vector<Vector> around = units(variants);
  Vector sum(centre.size(), 0.0);  // of the differences to the answer
  for (std::size_t i = 0; i < around.size(); ++i) {
    if (around[i] != centre) ++result.changed;
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += around[i][j] - centre[j];
  }
  const auto n = static_cast<double>(around.size());
  const Vector mean = moved(centre, sum, n);
  result.resultant = result.changed == 0 ? 1 : length(mean);
  result.plain = angle_to(mean);
  result.gamma = result.plain;
  if (around.size() >= 2) {
    // Pseudo-values: their mean is θ² less its bias of s²/N, their spread that of the estimate [Efron 1982].
    const double square = result.plain * result.plain;
    Moments pseudo;
    Vector rest(sum.size());
    for (const Vector& left_out : around) {
      for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = sum[j] - (left_out[j] - centre[j]);
      const double without = angle_to(moved(centre, rest, n - 1));
      pseudo.add(n * square - (n - 1) * without * without);
    }
    result.gamma = angle_of_square(pseudo.mean());
    const double t = student_t_quantile((1 + confidence) / 2, n - 1);
    const Interval squares = mean_interval(pseudo, t);
    result.interval = Interval{std::min(angle_of_square(squares.low), result.gamma),
                               std::max(angle_of_square(squares.high), result.gamma)};
  }
  if (repeats.rows > 0) {
    std::vector<Vector> same = units(repeats);
    same.push_back(centre);
    const double floor = scatter(same);
    result.floor = std::sqrt(floor);
    result.excess = angle_of_square(result.gamma * result.gamma - floor);
  }
  return result;
}

}  // namespace harmonia
