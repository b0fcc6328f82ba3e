#include "harmonia/ball/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"

namespace harmonia {
namespace {

std::size_t moving(const Schema& schema, std::size_t inputs) {
  const auto fixed = std::count_if(schema.begin(), schema.end(), [](const Feature& f) { return f.fixed; });
  return inputs - static_cast<std::size_t>(fixed);
}

double allowed(const Feature& feature, double value) {
  if (feature.integer) value = std::round(value);
  return std::clamp(value, feature.lower, feature.upper);
}

}  // namespace

NoiseKind parse_noise(const std::string& text) {
  if (text == "gaussian") return NoiseKind::gaussian;
  if (text == "ball") return NoiseKind::ball;
  throw Error(ErrorCode::usage, fmt::format("noise '{}' is not known; expected gaussian or ball", text));
}

std::string noise_name(NoiseKind kind) { return kind == NoiseKind::gaussian ? "gaussian" : "ball"; }

bool certifiable(const NoiseOptions& options) {
  return options.kind == NoiseKind::gaussian && options.directions.rows() == 0 &&
         std::none_of(options.schema.begin(), options.schema.end(),
                      [](const Feature& f) { return f.fixed || f.integer || f.bounded(); });
}

Noise::Noise(NoiseOptions options, std::size_t inputs, std::uint64_t seed)
    : options_(std::move(options)), seed_(seed) {
  const Matrix<double>& directions = options_.directions;
  if (!options_.schema.empty() && options_.schema.size() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("the schema has {} features; the data has {} columns",
                                              options_.schema.size(), inputs));
  }
  if (directions.rows() > 0 && directions.columns() != inputs) {
    throw Error(ErrorCode::usage,
                fmt::format("directions have {} columns; the data has {}", directions.columns(), inputs));
  }
  for (std::size_t i = 0; i < directions.rows() * directions.columns(); ++i) {
    if (!std::isfinite(directions.view().data[i]))
      throw Error(ErrorCode::input,
                  fmt::format("direction {} has a value that is not finite", i / directions.columns()));
  }
  for (std::size_t k = 0; k < directions.rows(); ++k) {
    const std::span<const double> direction(directions.row(k), directions.columns());
    if (std::all_of(direction.begin(), direction.end(), [](double value) { return value == 0; }))
      throw Error(ErrorCode::input, fmt::format("direction {} has length 0", k));
  }
  dimension_ = directions.rows() > 0 ? directions.rows() : moving(options_.schema, inputs);
  if (dimension_ == 0) throw Error(ErrorCode::usage, "the schema fixes every feature: nothing can be moved");
}

void Noise::numbers(std::uint64_t sample, std::span<float> out) const {
  normals({.seed = seed_, .stream = Stream::noise, .row = 0, .sample = sample},
          out);  // the same for all rows
}

// What sigma is multiplied by along a sample.
double Noise::reach(std::uint64_t sample, std::span<const float> z) const {
  if (options_.kind == NoiseKind::gaussian) return 1;
  double squares = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    if (options_.directions.rows() == 0 && !options_.schema.empty() && options_.schema[j].fixed) continue;
    squares += static_cast<double>(z[j]) * z[j];
  }
  const double uniform = draw_uniform({.seed = seed_, .stream = Stream::noise_radius, .sample = sample}, 0);
  // Normal numbers that are all 0 have no direction: the sample is the row.
  return squares > 0 ? std::pow(uniform, 1 / static_cast<double>(dimension_)) / std::sqrt(squares) : 1;
}

// A feature of a row, moved by so many of its scales.
double Noise::moved(std::size_t feature, double x, double by) const {
  if (options_.schema.empty()) return by + x;
  const Feature& rules = options_.schema[feature];
  return rules.fixed || std::isnan(x) ? x : allowed(rules, x + rules.scale * by);
}

// What sample k moves every feature by, in its scales.
void Noise::steps(double sigma, std::uint64_t sample, std::span<double> out) const {
  const Matrix<double>& directions = options_.directions;
  thread_local std::vector<float> z;
  z.resize(directions.rows() > 0 ? directions.rows() : out.size());
  numbers(sample, z);
  const double step = sigma * reach(sample, z);
  if (directions.rows() == 0) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = step * static_cast<double>(z[j]);
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double part = step * static_cast<double>(z[k]);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += part * directions.row(k)[j];
  }
  // A sum past all numbers in both directions must not look like a missing value.
  for (double& by : out) by = std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
}

void Noise::put(std::span<const double> x, double sigma, std::uint64_t sample, bool mirrored,
                std::span<double> out) const {
  steps(mirrored ? -sigma : sigma, sample, out);
  for (std::size_t j = 0; j < x.size(); ++j) out[j] = moved(j, x[j], out[j]);
}

bool Noise::linear() const {
  return std::none_of(options_.schema.begin(), options_.schema.end(),
                      [](const Feature& f) { return f.integer || f.bounded(); });
}

void Noise::displacement(std::uint64_t sample, std::span<double> out) const {
  steps(1, sample, out);
  const Schema& schema = options_.schema;
  for (std::size_t j = 0; j < schema.size(); ++j) out[j] = schema[j].fixed ? 0 : schema[j].scale * out[j];
}

void NoiseRay::take(std::uint64_t sample, std::span<const double> sigmas) {
  noise_.numbers(sample, z_);
  const double reach = noise_.reach(sample, z_);
  steps_.resize(sigmas.size());
  for (std::size_t s = 0; s < sigmas.size(); ++s) steps_[s] = sigmas[s] * reach;
}

template <class T>
void NoiseRay::put(std::size_t feature, double x, std::size_t first, std::span<T> out) const {
  const auto z = static_cast<double>(z_[feature]);
  const double* const steps = steps_.data() + first;
  if (noise_.options_.schema.empty()) {
    // In a form that is computed in vectors.
    for (std::size_t s = 0; s < out.size(); ++s) out[s] = static_cast<T>(steps[s] * z + x);
  } else {
    for (std::size_t s = 0; s < out.size(); ++s)
      out[s] = static_cast<T>(noise_.moved(feature, x, steps[s] * z));
  }
}

double NoiseRay::last(std::size_t feature, double x) const {
  return noise_.moved(feature, x, steps_.back() * static_cast<double>(z_[feature]));
}

template void NoiseRay::put(std::size_t, double, std::size_t, std::span<float>) const;
template void NoiseRay::put(std::size_t, double, std::size_t, std::span<double>) const;

}  // namespace harmonia
