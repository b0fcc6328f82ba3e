// The statements of [Kersting 2024, appendix, section 1], each beside what is measured.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "harmonia/model/grid_energy.hpp"
#include "harmonia/model/harmonic_grid.hpp"
#include "harmonia/model/poisson_disk.hpp"
#include "interpolants.hpp"

namespace harmonia {
namespace {

using PlaneFunction = std::function<double(double, double)>;

constexpr double kPi = std::numbers::pi;

double wave(double x, double y) { return std::sin(9 * x - 6 * y) + x * y * y; }

double exponential(double x, double y) { return std::exp(x) * std::cos(y); }

double on_circle(double angle) { return std::exp(std::cos(angle)) * std::sin(2 * angle); }

Grid square(std::size_t cells, double side = 1, double corner = 0) {
  return {.nx = cells + 1,
          .ny = cells + 1,
          .spacing = side / static_cast<double>(cells),
          .x0 = corner,
          .y0 = corner};
}

double at(const Model& model, double x, double y) {
  const std::array<double, 2> point{x, y};
  double answer = 0;
  model.evaluate(MatrixView<const double>{point.data(), 1, 2}, {&answer, 1, 1});
  return answer;
}

double circle_gamma(const Model& f, double x, double y, double r, int points) {
  double sum = 0;
  for (int k = 0; k < points; ++k) {
    const double angle = 2 * kPi * k / points;
    sum += at(f, x + r * std::cos(angle), y + r * std::sin(angle));
  }
  return std::abs(sum / points - at(f, x, y));
}

struct Gamma {
  double mean = 0, largest = 0;
};

// On the cross of one spacing, which is the circle of four points, at every inner node.
Gamma cross_gamma(const Grid& grid, const Matrix<double>& values) {
  const auto model = make_grid_model("grid", grid, values);
  Gamma gamma;
  for (std::size_t j = 1; j + 1 < grid.ny; ++j) {
    for (std::size_t i = 1; i + 1 < grid.nx; ++i) {
      const double here = circle_gamma(*model, grid.x(i), grid.y(j), grid.spacing, 4);
      gamma.mean += here;
      gamma.largest = std::max(gamma.largest, here);
    }
  }
  gamma.mean /= static_cast<double>((grid.nx - 2) * (grid.ny - 2));
  return gamma;
}

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
  double largest = 0;
  for (std::size_t j = 0; j < a.rows(); ++j) {
    for (std::size_t i = 0; i < a.columns(); ++i) {
      largest = std::max(largest, std::abs(a.row(j)[i] - b.row(j)[i]));
    }
  }
  return largest;
}

void print_row(const std::string& statement, const std::string& measured) {
  fmt::print("{:<80}  {}\n", statement, measured);
}

void existence() {
  print_row("STATEMENT", "MEASURED");
  for (const auto& [nx, ny] : {std::pair<std::size_t, std::size_t>{33, 33}, {64, 41}, {257, 257}}) {
    const Grid grid{.nx = nx, .ny = ny, .spacing = 1 / static_cast<double>(nx - 1)};
    print_row(fmt::format("grid, {} x {} nodes: gamma on the cross with r = h is 0", nx, ny),
              fmt::format("largest {:.1e}", cross_gamma(grid, harmonic_interpolant(grid, wave)).largest));
  }
  const auto disk = make_poisson_disk("disk", on_circle);
  double gamma = 0;
  int balls = 0;
  for (const double modulus : {0.0, 0.15, 0.3, 0.45, 0.6}) {
    for (int k = 0; k < 8; ++k) {
      for (const double r : {0.7 - modulus, 0.1, 0.01}) {
        const double angle = 2 * kPi * k / 8;
        gamma =
            std::max(gamma, circle_gamma(*disk, modulus * std::cos(angle), modulus * std::sin(angle), r, 64));
        ++balls;
      }
    }
  }
  print_row("disk, Poisson's integral: gamma on a circle of 64 points, |z| + r <= 0.7, is 0",
            fmt::format("largest {:.1e} ({} balls)", gamma, balls));

  const Grid grid = square(128);
  const PlaneFunction plane = [](double x, double y) { return 1 + 2 * x - 3 * y; };
  print_row("a straight boundary is filled straight (129 x 129 nodes, 1 + 2x - 3y)",
            fmt::format("error {:.1e}",
                        largest_difference(harmonic_interpolant(grid, plane), sample(grid, plane))));
  const Matrix<double> values = harmonic_interpolant(grid, wave);
  double low = values.row(0)[0], high = low, inner_low = values.row(1)[1], inner_high = inner_low;
  for (std::size_t j = 0; j < grid.ny; ++j) {
    for (std::size_t i = 0; i < grid.nx; ++i) {
      double& least = grid.on_edge(i, j) ? low : inner_low;
      double& most = grid.on_edge(i, j) ? high : inner_high;
      least = std::min(least, values.row(j)[i]);
      most = std::max(most, values.row(j)[i]);
    }
  }
  print_row("the inside stays between the boundary's extremes (hence uniqueness)",
            fmt::format("[{:.4f}, {:.4f}] in [{:.4f}, {:.4f}]", inner_low, inner_high, low, high));
}

void convergence() {
  const auto disk = make_poisson_disk("disk", on_circle);
  const std::vector<std::pair<std::string, PlaneFunction>> functions{
      {"grid - exp(x) cos(y)", exponential},
      {"grid - Poisson's integral", [&](double x, double y) { return at(*disk, x, y); }}};
  fmt::print("\nThe grid's largest error on [-0.45, 0.45]^2 falls as h^2 (order 2)\n");
  fmt::print("{:<28}{:>10}{:>14}{:>9}\n", "", "1/h", "difference", "order");
  for (const auto& [name, f] : functions) {
    double coarse = 0;
    for (const std::size_t cells : {9U, 18U, 36U, 72U, 144U}) {
      const Grid grid = square(cells, 0.9, -0.45);
      const double fine = largest_difference(harmonic_interpolant(grid, f), sample(grid, f));
      fmt::print("{:<28}{:>10.0f}{:>14.3e}{:>9}\n", name, 1 / grid.spacing, fine,
                 coarse == 0 ? "" : fmt::format("{:.3f}", std::log2(coarse / fine)));
      coarse = fine;
    }
  }
}

void energies(const std::string& title, const Grid& grid, const PlaneFunction& boundary) {
  const Matrix<double> harmonic = harmonic_interpolant(grid, boundary);
  const std::vector<std::pair<std::string, Matrix<double>>> all{
      {"harmonic", harmonic},
      {"inverse squared distance", interpolants::shepard(grid, harmonic)},
      {"harmonic + 0.5 bump", interpolants::with_bump(grid, harmonic, 0.5)},
      {"Coons patch", interpolants::coons(grid, harmonic)},
      {"nearest boundary value", interpolants::nearest(grid, harmonic)}};
  fmt::print("\n{}\n", title);
  fmt::print("{:<28}{:>14}{:>14}{:>14}{:>14}\n", "interpolant", "|grad f|^2", "(laplacian)^2", "bending",
             "mean gamma");
  for (const auto& [name, values] : all) {
    fmt::print("{:<28}{:>14.4f}{:>14.4g}{:>14.4g}{:>14.3g}\n", name, dirichlet_energy(grid, values),
               laplacian_energy(grid, values), bending_energy(grid, values), cross_gamma(grid, values).mean);
  }
}

void minimality() {
  const Grid grid = square(40);
  energies("Energies of interpolants of sin(9x - 6y) + x y^2 on the edge of the unit square, 41 x 41 nodes",
           grid, wave);
  energies("The same for sin(pi x) on one side and 0 on the others, 201 x 201 nodes", square(200),
           [](double x, double y) { return (1 - y) * std::sin(kPi * x); });

  const Matrix<double> f = harmonic_interpolant(grid, wave);
  double largest = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Matrix<double> v = interpolants::noise(grid, 0.3, seed);
    const double both = dirichlet_energy(grid, f) + dirichlet_energy(grid, v);
    largest = std::max(largest, std::abs(dirichlet_energy(grid, interpolants::sum(grid, f, v)) / both - 1));
  }
  fmt::print("\n");
  print_row("least |grad f|^2 of all: E(f + v) = E(f) + E(v) for 100 random v, 0 on the edge",
            fmt::format("relative gap {:.1e}", largest));
}

}  // namespace
}  // namespace harmonia

int main() try {
  harmonia::existence();
  harmonia::convergence();
  harmonia::minimality();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "harmonic_reference: {}\n", error.what());
  return 1;
}
