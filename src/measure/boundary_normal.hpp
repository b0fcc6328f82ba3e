#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "harmonia/measure/boundary.hpp"
#include "harmonia/model/point_asker.hpp"

namespace harmonia {

/// A crossing whose normal is wanted, and what was found of it. Vectors over the moved features are in units
/// of these features' scales.
struct NormalSite {
  std::vector<double> x;           ///< the crossing, all features
  std::vector<double> low, high;   ///< the points next to it, on the side of `from` and of `to`
  std::vector<std::size_t> moved;  ///< features
  std::vector<double> scale;       ///< of the moved features
  std::vector<double> along;       ///< the segment's direction over the moved features, of length 1
  long long from = 0, to = 0;

  NormalMethod method = NormalMethod::none;
  std::vector<double> normal;   ///< over the moved features, of length 1; empty: none was found
  double angle = 0, error = 0;  ///< radians
  std::size_t left_out = 0;
  std::uint64_t evaluations = 0;
  bool flat = false, unpaid = false;  ///< why there is no normal
};

/// Finds the normals of all sites, many at a time; tell() is called now and then.
void find_normals(PointAsker& asker, std::span<NormalSite> sites, NormalMethod method, double step,
                  const std::function<void()>& tell);

/// By the answers of the two classes that meet. Of `automatic` sites those whose answers jump at the boundary
/// are left without a method.
void margin_normals(PointAsker& asker, std::span<NormalSite> sites, bool automatic, double step);

/// By classes alone, of the sites that have no method yet.
void label_normals(PointAsker& asker, std::span<NormalSite> sites, double step);

/// v made to length 1; empty if it has no direction: if it is 0, or a coordinate is NaN or infinite.
std::vector<double> unit(std::vector<double> v);

/// Puts x + Σ direction · scale into `point`.
void offset_point(const NormalSite& site, std::span<const double> direction, double length,
                  std::span<double> point);

/// The value as a model of this type gets it.
double in_type(double value, Scalar scalar);

/// How far apart moved feature i is, in units of its scale, a step to either side, as the model's type has
/// these points. Throws Error(usage) if they are the same.
double feature_step(const NormalSite& site, std::size_t i, double step, Scalar scalar);

/// Marks the sites, in order, that `left` evaluations do not pay for, of which each asks for cost(site).
template <class Cost>
void keep_to_budget(std::span<NormalSite> sites, std::uint64_t left, const Cost& cost) {
  for (NormalSite& site : sites) {
    const std::uint64_t each = site.unpaid ? 0 : cost(site);
    if (each > left) {
      site.unpaid = true;
    } else {
      left -= each;
      site.evaluations += each;
    }
  }
}

/// The widest distance between estimates, twice: two that are off by h² and h²/4 lie three quarters of the
/// first one's error apart. A right angle if one of them is NaN.
double estimates_error(std::span<const double> angles);

}  // namespace harmonia
