#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "harmonia/ball/noise.hpp"
#include "harmonia/measure/output.hpp"
#include "harmonia/model/point_asker.hpp"
#include "harmonia/model/ray_path.hpp"

namespace harmonia {

/// Counts the classes of noise samples around rows at many sigmas by a model's RayPath.
class RayCounter {
 public:
  using Counts = std::map<long long, std::uint64_t>;

  /// Null if the model has no such path, or it does not take this noise and these sigmas, all of which
  /// outlive what is made.
  static std::unique_ptr<RayCounter> find(PointAsker& asker, const Noise& noise,
                                          std::span<const double> sigmas);

  /// Adds the classes of samples 0 … samples − 1 around the row, one map a sigma. Enters them in the run's
  /// ledger, and throws what asking for the points throws.
  void count(std::span<const double> row, std::uint64_t samples, std::span<Counts* const> counts);

 private:
  RayCounter(PointAsker& asker, const Noise& noise, std::span<const double> sigmas,
             std::unique_ptr<RayAsker> first);

  // One thread's part.
  struct Worker {
    std::unique_ptr<RayAsker> path;  // made when it is first needed
    Matrix<double> answers;
    std::vector<Counts> counts;
  };

  void ask_points(std::span<const double> row, std::uint64_t first, std::uint64_t samples,
                  std::span<Counts* const> counts);

  PointAsker& asker_;
  const Noise& noise_;
  std::span<const double> sigmas_;
  Observer observer_;
  std::vector<Worker> workers_;
};

}  // namespace harmonia
