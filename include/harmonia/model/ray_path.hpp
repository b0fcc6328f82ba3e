#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harmonia/ball/noise.hpp"
#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Answers noise samples around rows at many sigmas. Not safe to call from several threads.
class RayAsker {
 public:
  virtual ~RayAsker() = default;
  /// y: samples × sigmas × outputs, of the samples from `first` on around the row. False: some point or
  /// answer is not finite, so that all are to be asked for one by one.
  virtual bool evaluate(std::span<const double> row, std::uint64_t first, MatrixView<double> y) = 0;
};

/// Answers the points x + sigma · z of one direction and many sigmas together, sooner than one by one and
/// with the same numbers to the bit.
class RayPath {
 public:
  virtual ~RayPath() = default;
  /// What it is called in results, in a word.
  virtual std::string name() const = 0;
  /// One that answers at these sigmas, which ascend; null: they are too few to gain by it, or the noise is
  /// along directions. Safe to call from several threads; it, noise and sigmas outlive what is made.
  virtual std::unique_ptr<RayAsker> open(const Noise& noise, std::span<const double> sigmas) const = 0;
};

}  // namespace harmonia
