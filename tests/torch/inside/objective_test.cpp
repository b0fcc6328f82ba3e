#include "objective.hpp"

#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <cmath>
#include <ostream>

#include "network.hpp"

namespace harmonia {
namespace {

NetworkShape connected(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t classes) {
  return {.inputs = inputs, .classes = classes, .hidden = std::move(hidden)};
}

at::Tensor numbers(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  return torch::tensor(values, at::kDouble).reshape(shape);
}

// The first two axes of three.
at::Tensor two_axes() { return numbers({1, 0, 0, 0, 1, 0}, {2, 3}); }

TEST(AlignmentTerms, GoldenValues) {
  const at::Tensor g = numbers({1, 2, 2}, {1, 3});
  EXPECT_NEAR(alignment_terms(AlignmentTerm::ratio, g, two_axes()).item<double>(), 3 / std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(alignment_terms(AlignmentTerm::cosine, g, two_axes()).item<double>(), 1 - std::sqrt(5.0) / 3,
              1e-12);
  EXPECT_NEAR(alignment_terms(AlignmentTerm::rejection, g, two_axes()).item<double>(), 2, 1e-12);
}

TEST(AlignmentTerms, LeaveOutGradientsWithoutADirection) {
  const at::Tensor g = numbers({0, 0, 0, 0, 0, 5, 3, 4, 0}, {3, 3});
  for (const AlignmentTerm term : {AlignmentTerm::ratio, AlignmentTerm::cosine, AlignmentTerm::rejection})
    EXPECT_EQ(alignment_terms(term, g, two_axes()).size(0), 1);
  EXPECT_DOUBLE_EQ(alignment_terms(AlignmentTerm::ratio, g, two_axes()).item<double>(), 1);
}

TEST(AlignmentTerms, ShortGradientsHaveTheirDirection) {
  const at::Tensor g = (numbers({1, 2, 2}, {1, 3}) * 1e-33).to(at::kFloat);
  EXPECT_NEAR(alignment_terms(AlignmentTerm::ratio, g, two_axes().to(at::kFloat)).item<double>(),
              3 / std::sqrt(5.0), 1e-6);
}

// g / (‖g‖ ‖Πg‖) − ‖g‖ Πg / ‖Πg‖³.
TEST(AlignmentTerms, DerivativeOfTheRatio) {
  const at::Tensor g = numbers({1, -2, 0.5}, {1, 3}).requires_grad_();
  const at::Tensor along = numbers({1, -2, 0}, {1, 3});
  const double length = std::sqrt(5.25), part = std::sqrt(5.0);
  const at::Tensor expected = g.detach() / (length * part) - length * along / std::pow(part, 3);
  alignment_terms(AlignmentTerm::ratio, g, two_axes()).sum().backward();
  EXPECT_TRUE(at::allclose(g.grad(), expected, 1e-12, 1e-12));
}

struct Case {
  const char* name;
  AlignmentTerm term;
  bool convolutions;

  friend void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }
};

class ObjectiveGradient : public testing::TestWithParam<Case> {};

// By every parameter, against central differences; double precision, so that they are good to eight digits.
TEST_P(ObjectiveGradient, EqualsDifferences) {
  const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
  TrainingOptions options;
  options.network = connected(12, {7, 5}, 3);
  if (GetParam().convolutions) {
    options.network = connected(18 * 18, {4}, 3);
    options.network.channels = 2;
    options.network.image = {18, 18, 1};
  }
  options.penalties.assign(options.network.hidden.size() + 1, 0.1);
  options.term = GetParam().term;
  options.alpha = 0.7;
  torch::manual_seed(3);
  const auto inputs = static_cast<std::int64_t>(options.network.inputs);
  torch::jit::Module network = new_network(options.network, at::kDouble, 5);
  const at::Tensor rows = at::randn({6, inputs}, at::kDouble);
  const at::Tensor classes = torch::tensor({0, 1, 2, 0, 1, 2}, at::kLong);
  const at::Tensor basis = std::get<0>(at::linalg_qr(at::randn({inputs, 4}, at::kDouble))).t().contiguous();
  const Objective objective(options, network, basis);
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : network.parameters()) parameters.push_back(parameter.requires_grad_());
  const ObjectiveValue value = objective.at(network, rows, classes);
  if (options.term != AlignmentTerm::none) {
    ASSERT_EQ(value.aligned, 6);
  }
  value.total.backward();

  constexpr double step = 1e-6;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor flat = parameter.detach().view(-1);
    const at::Tensor by = parameter.grad().reshape(-1);
    const std::int64_t stride = std::max<std::int64_t>(1, flat.numel() / 40);
    for (std::int64_t k = 0; k < flat.numel(); k += stride) {
      const double before = flat[k].item<double>();
      flat[k] = before + step;
      const double above = objective.at(network, rows, classes).total.item<double>();
      flat[k] = before - step;
      const double below = objective.at(network, rows, classes).total.item<double>();
      flat[k] = before;
      EXPECT_NEAR(by[k].item<double>(), (above - below) / (2 * step), 1e-6) << "parameter number " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Terms, ObjectiveGradient,
                         testing::Values(Case{"loss", AlignmentTerm::none, false},
                                         Case{"ratio", AlignmentTerm::ratio, false},
                                         Case{"cosine", AlignmentTerm::cosine, false},
                                         Case{"rejection", AlignmentTerm::rejection, false},
                                         Case{"convolutions", AlignmentTerm::ratio, true}),
                         [](const auto& each) { return each.param.name; });

TEST(Objective, AddsTheWeightsPenaltyByLayer) {
  TrainingOptions options;
  options.network = connected(3, {4}, 2);
  options.penalties = {0.5, 2};
  torch::jit::Module network = new_network(options.network, at::kDouble, 1);
  const Objective objective(options, network, {});
  const double expected = 0.5 * network.attr("weight0").toTensor().square().sum().item<double>() / 4 +
                          2 * network.attr("weight1").toTensor().square().sum().item<double>() / 2;
  const ObjectiveValue value =
      objective.at(network, at::ones({2, 3}, at::kDouble), torch::tensor({0, 1}, at::kLong));
  EXPECT_NEAR(value.penalty, expected, 1e-12);
  EXPECT_NEAR(value.total.item<double>(), value.cross_entropy + expected, 1e-12);
}

TEST(Network, AnswersAsItsLayersDo) {
  NetworkShape shape = connected(6, {5}, 3);
  shape.unit = 255;
  torch::jit::Module network = new_network(shape, at::kDouble, 9);
  const at::Tensor x = 100 * at::rand({4, 6}, at::kDouble);
  const auto part = [&](const char* name) { return network.attr(name).toTensor(); };
  const at::Tensor expected = at::linear(at::relu(at::linear(x / 255, part("weight0"), part("bias0"))),
                                         part("weight1"), part("bias1"));
  EXPECT_TRUE(at::allclose(network.forward({x}).toTensor(), expected, 1e-12, 1e-12));
  EXPECT_LE(part("weight0").abs().max().item<double>(), 1 / std::sqrt(6.0));
  EXPECT_EQ(connected_weights(network, shape).size(), 2U);
}

// The shapes of the paper's Table 3: 28 × 28 pixels become 6 × 6 of each channel.
TEST(Network, ConvolutionsOfTheTable) {
  NetworkShape shape = connected(784, {256}, 10);
  shape.channels = 3;
  shape.image = {28, 28, 1};
  torch::jit::Module network = new_network(shape, at::kFloat, 1);
  EXPECT_EQ(network.attr("weight4").toTensor().sizes(), (std::vector<std::int64_t>{256, 3 * 6 * 6}));
  EXPECT_EQ(network.forward({at::rand({2, 784})}).toTensor().sizes(), (std::vector<std::int64_t>{2, 10}));
}

// Of a linear network the loss grows with one sign a value: the corner of the box.
TEST(MovedRows, ReachTheCornerOfALinearNetwork) {
  torch::jit::Module network = new_network(connected(5, {}, 2), at::kDouble, 4);
  const at::Tensor weights = network.attr("weight0").toTensor();
  const at::Tensor rows = at::rand({3, 5}, at::kDouble), classes = torch::tensor({0, 0, 0}, at::kLong);
  AdversarialTraining how{.epsilon = 0.25, .steps = 7};
  const at::Tensor draws = 2 * at::rand({3, 5}, at::kDouble) - 1;
  const at::Tensor corner = rows + 0.25 * (weights[1] - weights[0]).sign();
  EXPECT_TRUE(at::allclose(moved_rows(network, how, rows, classes, draws), corner, 1e-12, 1e-12));
  how.lower = 0;
  how.upper = 1;
  EXPECT_TRUE(at::allclose(moved_rows(network, how, rows, classes, draws), corner.clamp(0, 1), 1e-12, 1e-12));
}

}  // namespace
}  // namespace harmonia
