#pragma once

#include <cstddef>
#include <vector>

namespace harmonia {

/// Nodes t_i in (0, 1) and weights w_i with Σ w_i g(t_i) = ∫₀¹ n t^{n−1} g(t) dt for every even polynomial g
/// of degree up to 4·count − 2: the solid ball in n dimensions from spheres. The weights sum to 1.
/// Gauss–Jacobi in t², by the three-term recurrence.
void solid_ball_rule(std::size_t n, std::size_t count, std::vector<double>& nodes,
                     std::vector<double>& weights);

}  // namespace harmonia
