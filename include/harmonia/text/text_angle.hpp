#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/core/statistics.hpp"

namespace harmonia {

/// How an angle between embeddings is written as a number.
enum class AngleConvention {
  angle,  ///< θ, in radians
  chord,  ///< 2·sin(θ/2), the distance of unit vectors
  sin,    ///< sin θ
  paper,  ///< √(1 − cos θ) = √2·sin(θ/2), what the authors' program computes
};
/// The name that options and results use.
std::string_view convention_name(AngleConvention convention);
/// None if there is no such convention.
std::optional<AngleConvention> convention_of(std::string_view name);
/// The angle in the convention.
double in_convention(double angle, AngleConvention convention);
/// Where it lies in the convention, if the angle lies in the interval.
Interval in_convention(const Interval& angle, AngleConvention convention);

/// The angle between two vectors that are not 0, in radians: 2·atan2(‖u−v‖, ‖u+v‖) of the unit vectors, which
/// resolves angles of 1e-8 where an arc cosine of float32 returns 0 under 3e-4. [Kahan 2006, section 13]
double angle_between(std::span<const float> u, std::span<const float> v);

/// The authors' words for a value in the convention `paper`.
enum class TrustBand {
  trustworthy,  ///< below 0.1: probably trustworthy
  possible,     ///< 0.1 to 0.2: possible hallucination
  likely,       ///< above 0.2: likely hallucination
};
/// The band of a value in the convention `paper`.
TrustBand trust_band(double paper_value);
/// The name that results use.
std::string_view band_name(TrustBand band);

/// √(Σ‖v − mean‖²/(n − 1)) of the rows' unit vectors: how far they are from their mean. 0 for fewer than two.
double text_scatter(MatrixView<const float> rows);

/// How far the answers to variants of a prompt are from its own answer; angles in radians.
struct TextGamma {
  std::size_t variants = 0;
  std::size_t changed = 0;  ///< variants with another embedding; in studies, with another text
  /// The angle between the answer and the mean of the variants' answers, as the authors have it: too large by
  /// what a finite number of variants scatters.
  double plain = 0;
  /// The same without that part: √(θ² − s²/N), by the jackknife of θ². 0 where the scatter explains it all.
  double gamma = 0;
  /// Where the angle to the mean of all variants lies, by Student's t of the jackknife of θ². None for fewer
  /// than two variants.
  std::optional<Interval> interval;
  /// The length of the mean of the variants' unit vectors: 1 if all are alike, near 0 where answers cancel
  /// each other and the angle to their mean says little.
  double resultant = 1;
  /// √(s₀²): how far repeats of the unchanged prompt are from their mean. None without repeats.
  std::optional<double> floor;
  /// √(γ² − s₀²): what is left of gamma; 0 where the floor explains it all. None without repeats.
  std::optional<double> excess;
};

/// The band of the plain value, which is what the authors' program judges.
TrustBand band_of(const TextGamma& gamma);

/// A mean of answers this short or shorter is no direction to rely on.
constexpr double kShortResultant = 0.5;

/// answer: the embedding of the prompt's own answer; variants: those of the variants' answers, a row each;
/// repeats: those of further answers to the unchanged prompt. Vectors need not be of length 1, but none may
/// be 0. Rows with the bits of the answer's count as the same text.
/// If variants are independent draws, [low, high] covers the angle to the mean of all variants with about the
/// confidence, from some ten variants on. If all answers seen are alike it has no width: `changed` of
/// `variants` then says what was not seen.
TextGamma text_gamma(std::span<const float> answer, MatrixView<const float> variants,
                     MatrixView<const float> repeats, double confidence);

}  // namespace harmonia
