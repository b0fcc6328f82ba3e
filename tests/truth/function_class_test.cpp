#include <gtest/gtest.h>

#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/model/function_model.hpp"

namespace harmonia {
namespace {

double at(const Model& model, std::vector<double> x) {
  double y = -1;
  model.evaluate(RowsView(MatrixView<const double>{x.data(), 1, x.size()}), {&y, 1, 1});
  return y;
}

TEST(FunctionClass, HalfSpace) {
  const auto model = make_function_model("half-space", 2, {{"d", 1.5}});
  EXPECT_EQ(model->info().name, "fn:half-space?n=2&d=1.5");
  EXPECT_TRUE(model->info().binary);
  EXPECT_EQ(at(*model, {1.49, 9}), 1);
  EXPECT_EQ(at(*model, {1.5, -9}), 0);
}

TEST(FunctionClass, Ball) {
  const auto model = make_function_model("ball-class", 3, {{"r", 2}});
  EXPECT_EQ(at(*model, {1.1, 1.1, 1.1}), 1);
  EXPECT_EQ(at(*model, {1.2, 1.2, 1.2}), 0);
}

TEST(FunctionClass, ConeHoldsItsAxisAndEndsAtItsAngle) {
  const auto model = make_function_model("cone", 3, {{"angle", 45}});
  EXPECT_EQ(at(*model, {0, 0, 0}), 1);
  EXPECT_EQ(at(*model, {0, 0.7, 0.7}), 1);
  EXPECT_EQ(at(*model, {0, 0.71, 0.71}), 0);
  EXPECT_EQ(at(*model, {-1.1, 0, 0}), 0);
  EXPECT_EQ(at(*make_function_model("cone", 2, {{"angle", 120}}), {-1.1, 0.2}), 1);
}

TEST(FunctionClass, Shells) {
  const auto model = make_function_model("shells", 1);
  for (const double x : {0.0, -0.19, 0.41, -3.9}) EXPECT_EQ(at(*model, {x}), 1) << x;
  for (const double x : {0.21, -0.39, 4.1}) EXPECT_EQ(at(*model, {x}), 0) << x;
}

TEST(FunctionClass, WrongParametersAreRefused) {
  EXPECT_THROW(make_function_model("half-space", 2, {{"r", 1}}), Error);
  EXPECT_THROW(make_function_model("ball-class", 2, {{"r", 0}}), Error);
  EXPECT_THROW(make_function_model("shells", 2), Error);
  EXPECT_THROW(make_function_model("f2", 2, {{"d", 1}}), Error);
}

}  // namespace
}  // namespace harmonia
