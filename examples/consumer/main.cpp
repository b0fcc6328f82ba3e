#include <iostream>

#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/function_model.hpp"

// f2 is the sum of squares: its average on a sphere of radius 0.1 is 0.01 above its value at the centre.
int main() {
  const double rows[] = {1, 2, 3, 4, 5, 6};
  harmonia::GammaOptions options{.ball = {.kind = harmonia::BallKind::cross, .radius = 0.1}};
  harmonia::Run run{.seed = 1};
  const auto result = harmonia::gamma(*harmonia::make_function_model("f2", 3), {rows, 2, 3}, options, run);
  for (const auto& row : result.rows) std::cout << "row " << row.row << ": gamma " << *row.gamma << '\n';
}
