#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// The model (x, y) -> f(x + iy) on the unit disk, harmonic inside and equal to `boundary` (a function of the
/// angle) on the circle: Poisson's integral [Kersting 2024, appendix, section 1, eq. 1–2] by the trapezoid
/// rule over `count` equispaced angles, whose error falls like |z|^count for smooth boundary values
/// [Trefethen 2014, section 3]. It answers for |z| <= 2^(-53 / count), 0.991 at 4096, where that is below
/// rounding, and on the circle itself; elsewhere Error(model). Harmonic whatever the boundary values, for
/// each term of the sum is. `boundary` must be safe to call from several threads. Throws Error(usage) for a
/// count under 3, Error(input) if a boundary value is not finite.
std::unique_ptr<Model> make_poisson_disk(const std::string& name,
                                         const std::function<double(double angle)>& boundary,
                                         std::size_t count = 4096);

}  // namespace harmonia
