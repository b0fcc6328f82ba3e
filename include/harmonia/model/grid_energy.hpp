#pragma once

#include "harmonia/model/grid_model.hpp"

/// Energies of node values (ny × nx), for the claim that the harmonic interpolant "has the minimum average
/// curvature over all possible f satisfying the same boundary conditions" [Kersting 2024, appendix, section
/// 1]. What "curvature" means decides whether it is true: see each energy. They are for comparing
/// interpolants of the same boundary values on the same grid.
namespace harmonia {

/// ∫ |∇f|², from squared differences of neighbours. The harmonic interpolant is the only minimum (Dirichlet's
/// principle): any other, f + v with v = 0 on the edge, has the energy of f plus that of v.
double dirichlet_energy(const Grid& grid, const Matrix<double>& values);

/// ∫ (Δf)², over the inner nodes. |Δf| is twice the mean curvature of a nearly flat graph, and 4γ / h² for
/// gamma on the cross of radius h. The claim holds: the harmonic interpolant has none of it, and it alone.
double laplacian_energy(const Grid& grid, const Matrix<double>& values);

/// ∫ f_xx² + 2 f_xy² + f_yy², the energy of a bent thin plate, where curvatures of opposite sign do not
/// cancel. The claim is false here: the harmonic interpolant is in general not the minimum, since the energy
/// can be lowered by changing the slope across the edge. On the unit square with sin πx on one side and 0 on
/// the others it has π³ coth π ≈ 31.1, while (1 − y) sin πx has π⁴ / 6 + π² ≈ 26.1.
double bending_energy(const Grid& grid, const Matrix<double>& values);

}  // namespace harmonia
