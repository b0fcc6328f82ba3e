#include <iostream>

#include "harmonia/model/function_model.hpp"

// f2 is the sum of squares: the value at (1, 2, 3) is 14.
int main() {
  const double x[] = {1, 2, 3};
  double y = 0;
  harmonia::make_function_model("f2", 3)->evaluate(harmonia::MatrixView<const double>{x, 1, 3}, {&y, 1, 1});
  std::cout << "f2(1, 2, 3) = " << y << '\n';
}
