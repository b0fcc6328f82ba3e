#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harmonia/ball/noise.hpp"
#include "harmonia/model/point_asker.hpp"
#include "harmonia/model/shared_units.hpp"

namespace harmonia {

/// A row that noise is put around.
struct NoiseRow {
  const double* x = nullptr;
  std::vector<double> start{};  ///< of its points' units; empty: not begun, or points are written
};

/// A sample around a row.
struct NoisePoint {
  const NoiseRow* row = nullptr;
  double sigma = 0;          ///< 0: the row itself
  std::uint64_t sample = 0;  ///< number of the displacement
  bool mirrored = false;
};

/// Asks a model for the classes of noise samples around rows: by the units of its first layer, whose products
/// all rows and sigmas share, where that is expected sooner.
class NoiseClasses {
 public:
  /// A row is asked about with so many samples, about, at every sigma. Keeps references.
  NoiseClasses(PointAsker& asker, const Noise& noise, std::uint64_t samples)
      : asker_(asker), noise_(noise), shared_(SharedUnits::of_noise(asker.model(), noise, samples)) {}

  /// The path's name in results; empty: points are asked for.
  std::string fast_path() const { return shared_ != nullptr ? kSharedFirstLayer : ""; }
  /// Makes rows ready to be asked about; once is enough.
  void begin(std::span<NoiseRow* const> rows);
  /// The class at each of `count` points around rows that have begun, where point i is point(i), called from
  /// several threads at once. Throws what PointAsker::ask() throws, and Error(model) if the model gives none.
  std::vector<long long> ask(std::size_t count, const std::function<NoisePoint(std::size_t i)>& point);

 private:
  PointAsker& asker_;
  const Noise& noise_;
  std::unique_ptr<SharedUnits> shared_;
};

}  // namespace harmonia
