#include "differences.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <ostream>

#include "device.hpp"
#include "point_pairs.hpp"

namespace harmonia {
namespace {

struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  double middle = 0;  // its numbers lie around this
};

// A network as its text and the shapes of its parameters.
struct Network {
  std::string name;
  std::vector<std::int64_t> row;  // the shape of one
  std::vector<Parameter> parameters;
  std::string text;
};

std::ostream& operator<<(std::ostream& out, const Network& network) { return out << network.name; }

torch::jit::Module made(const Network& network, at::ScalarType type, c10::Device device) {
  torch::jit::Module module("Network");
  at::Generator draws = at::detail::createCPUGenerator(7);
  for (const Parameter& parameter : network.parameters) {
    double inputs = 1;
    for (std::size_t k = 1; k < parameter.shape.size(); ++k) inputs *= static_cast<double>(parameter.shape[k]);
    const double scale = parameter.middle != 0 ? 0.2 : 1.4 / std::sqrt(inputs);
    // Numbers of single precision in both: the two networks are the same one.
    const at::Tensor numbers =
        at::empty(parameter.shape, at::kFloat).normal_(0, scale, draws).add_(parameter.middle).to(type).to(device);
    module.register_parameter(parameter.name, numbers, /*is_buffer=*/false);
  }
  module.define("def forward(self, x):\n" + network.text);
  for (const at::Tensor& parameter : module.parameters()) parameter.requires_grad_(false);
  module.eval();
  return torch::jit::freeze(module);
}

const Network kConvolutions{
    "convolutions",
    {3, 17, 15},
    {{"a", {16, 3, 5, 5}}, {"a0", {16}},      {"mean", {16}},       {"variance", {16}, 2}, {"scale", {16}, 1}, {"shift", {16}},
     {"b", {24, 16, 1, 1}}, {"b0", {24}},     {"c", {24, 24, 3, 3}}, {"c0", {24}},         {"d", {16, 24, 1, 1}},
     {"e", {24, 16, 1, 1}}, {"g", {40, 24, 3, 3}}, {"f", {5, 40}},  {"f0", {5}}},
    R"(
    x = torch.conv2d(x, self.a, self.a0, [2, 2], [2, 2])
    x = torch.batch_norm(x, self.scale, self.shift, self.mean, self.variance, False, 0.1, 1e-5, True)
    x = torch.max_pool2d(torch.relu(x), [3, 3], [1, 1], [1, 1])
    y = torch.relu(torch.conv2d(x, self.b, self.b0))
    y = torch.relu(torch.conv2d(y, self.c, self.c0, [1, 1], [1, 1]))
    x = torch.relu(torch.conv2d(y, self.d) + x)
    y = torch.relu(torch.conv2d(x, self.e, None, [2, 2]))
    y = torch.relu(torch.conv2d(y, self.g, None, [1, 1], [1, 1]) * 0.5 - 0.1)
    x = torch.flatten(torch.adaptive_avg_pool2d(y, [1, 1]), 1)
    return torch.linear(x, self.f, self.f0)
)"};

const Network kDense{"dense",
                     {24},
                     {{"a", {32, 24}}, {"a0", {32}}, {"b", {32, 32}}, {"b0", {32}}, {"c", {3, 32}}},
                     R"(
    x = torch.relu(torch.linear(x, self.a, self.a0))
    x = torch.tanh(torch.linear(x, self.b, self.b0)) + x
    x = torch.sigmoid(x) * x
    return torch.softmax(torch.linear(x, self.c), -1)
)"};

const Network kTransformer{
    "transformer",
    {6, 16},
    {{"first", {1, 1, 16}},  {"places", {1, 7, 16}}, {"scale", {16}, 1}, {"shift", {16}},  {"qkv", {48, 16}},
     {"qkv0", {48}},         {"out", {16, 16}},      {"wide", {64, 16}}, {"wide0", {64}}, {"narrow", {16, 64}},
     {"answer", {4, 16}}},
    R"(
    x = torch.cat([self.first.expand([x.shape[0], -1, -1]), x], 1) + self.places
    rows, tokens, width = x.shape
    y = torch.layer_norm(x, [16], self.scale, self.shift, 1e-6)
    parts = torch.linear(y, self.qkv, self.qkv0).view([rows, tokens, 3, 2, 8]).permute([2, 0, 3, 1, 4])
    q, k, v = parts.unbind(0)
    p = torch.softmax(torch.matmul(q * 0.35, k.transpose(-2, -1)), -1)
    y = torch.matmul(p, v).transpose(1, 2).reshape([rows, tokens, width])
    x = x + torch.linear(y, self.out)
    y = torch.layer_norm(x, [16], self.scale, self.shift, 1e-6)
    x = x + torch.linear(torch.gelu(torch.linear(y, self.wide, self.wide0)), self.narrow)
    return torch.linear(x[:, 0], self.answer)
)"};

constexpr std::int64_t kRows = 4, kPairs = 30;

// Rows, and pairs around them in turn, in single precision: plus and minus lie as far as rounding lets them.
struct Points {
  at::Tensor rows, row, plus, minus;

  Points(const Network& network, double radius, c10::Device device) {
    at::Generator draws = at::detail::createCPUGenerator(3);
    std::vector<std::int64_t> shape = network.row;
    shape.insert(shape.begin(), kRows);
    rows = at::empty(shape, at::kFloat).normal_(0, 1, draws).to(device);
    shape[0] = kPairs;
    row = at::arange(kPairs, at::kLong).remainder(kRows).to(device);
    const at::Tensor moved = at::empty(shape, at::kFloat).normal_(0, radius, draws).to(device);
    plus = rows.index_select(0, row) + moved;
    minus = rows.index_select(0, row) - moved;
  }
};

at::Tensor asked(torch::jit::Module& module, const at::Tensor& points, at::ScalarType type) {
  return module.forward({points.to(type, /*non_blocking=*/false, /*copy=*/true)}).toTensor().to(at::kDouble);
}

at::Tensor second_differences(torch::jit::Module& module, const Points& points, at::ScalarType type) {
  return asked(module, points.plus, type) + asked(module, points.minus, type) -
         2 * asked(module, points.rows, type).index_select(0, points.row);
}

PairAnswers by_differences(const torch::jit::Module& module, const Points& points, at::ScalarType type) {
  const at::Tensor moved = differences_of(points.rows.to(type), points.row, points.plus, points.minus);
  return Differences(module).answer({points.rows.to(type), points.row, moved});
}

double size_of(const at::Tensor& numbers) { return numbers.square().mean().sqrt().item<double>(); }

class DifferencesOf : public testing::TestWithParam<Network> {
 protected:
  // This machine's devices.
  static std::vector<c10::Device> devices() {
    std::vector<c10::Device> found{c10::kCPU};
    if (torch::cuda::is_available()) {
      compute_in_full();
      found.emplace_back(c10::kCUDA, 0);
    }
    return found;
  }

  const at::NoGradGuard no_gradients_;
  const torch::jit::GraphOptimizerEnabledGuard as_it_is_{false};
};

TEST_P(DifferencesOf, InDoublePrecisionAreThoseOfThePoints) {
  for (const c10::Device device : devices()) {
    for (const double radius : {1e-2, 0.3, 5.0}) {
      torch::jit::Module module = made(GetParam(), at::kDouble, device);
      const Points points(GetParam(), radius, device);
      const PairAnswers answers = by_differences(module, points, at::kDouble);
      for (const bool plus : {true, false}) {
        const at::Tensor expected = asked(module, plus ? points.plus : points.minus, at::kDouble);
        const double apart = (point_answers(answers, points.row, plus) - expected).abs().max().item<double>();
        EXPECT_LT(apart, 1e-12 * expected.abs().max().item<double>()) << device << ", radius " << radius;
      }
      EXPECT_EQ(answers.centres.size(0), kRows);
    }
  }
}

// What a second difference loses in single precision, differences keep; on a GPU with products of three parts too.
TEST_P(DifferencesOf, InSinglePrecisionAreMoreAccurateThanThePoints) {
  for (const c10::Device device : devices()) {
    for (const double radius : {1e-2, 0.1}) {
      const Points points(GetParam(), radius, device);
      torch::jit::Module exact = made(GetParam(), at::kDouble, device), single = made(GetParam(), at::kFloat, device);
      const at::Tensor expected = second_differences(exact, points, at::kDouble);
      const double of_points = size_of(second_differences(single, points, at::kFloat) - expected);
      const PairAnswers answers = by_differences(single, points, at::kFloat);
      const double of_differences = size_of(answers.differences.narrow(0, kPairs, kPairs) - expected);
      EXPECT_LT(of_differences, (device.is_cpu() ? 0.5 : 1) * of_points) << device << ", radius " << radius;
      EXPECT_LT(of_differences, 1e-3 * size_of(expected)) << device << ", radius " << radius;
    }
  }
}

TEST_P(DifferencesOf, AgreeOnAnExample) {
  for (const c10::Device device : devices()) {
    torch::jit::Module module = made(GetParam(), at::kFloat, device);
    EXPECT_EQ(disagreement(Differences(module), module, Points(GetParam(), 1, device).rows), "") << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, DifferencesOf, testing::Values(kConvolutions, kDense, kTransformer),
                         [](const auto& each) { return each.param.name; });

TEST(Differences, AnOperationThatIsNotKnownIsNamed) {
  const Network network{"cumulative", {4}, {{"a", {4, 4}}}, R"(
    return torch.cumsum(torch.linear(x, self.a), 1)
)"};
  const torch::jit::Module module = made(network, at::kFloat, c10::kCPU);
  try {
    const Differences differences(module);
    FAIL() << "expected an error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "differences of aten::cumsum are not known");
  }
}

// Rows that are mixed are none that differences can follow: a mean over the batch.
TEST(Differences, AMisunderstoodNetworkDisagrees) {
  const Network network{"mixed", {4}, {{"a", {4, 4}}}, R"(
    x = torch.relu(torch.linear(x, self.a))
    return x - torch.mean(x, [0], True)
)"};
  const at::NoGradGuard no_gradients;
  torch::jit::Module module = made(network, at::kFloat, c10::kCPU);
  const at::Tensor rows = Points(network, 1, c10::kCPU).rows;
  EXPECT_NE(disagreement(Differences(module), module, rows), "");
}

// A row and its two pairs; the end of another row's; a row that comes with one point.
TEST(PointPairs, RowsPairsAndOnesLeft) {
  const std::vector<std::uint32_t> base{0, 0, 0, 0, 0, 2, 3, 5, 4}, centre{0, 0, 0, 0, 0, 1, 1, 4, 4};
  const std::vector<std::size_t> first{0, 0, 1, 2, 3, 4, 4, 4, 5, 5};
  const std::vector<std::uint32_t> column{0, 0, 1, 1, 2};
  const std::vector<double> value{1, -1, 1, -1, 3};
  const Matrix<double> bases(6, 3);
  const PointPairs pairs({bases.view(), base, first, column, value, centre, true});
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(pairs.centres, (Numbers{0, 1, 4}));
  EXPECT_EQ(pairs.alone, (Numbers{0, 8}));
  EXPECT_EQ(pairs.alone_row, (Numbers{0, 2}));
  EXPECT_EQ(pairs.plus, (Numbers{1, 3, 5, 7}));
  EXPECT_EQ(pairs.minus, (Numbers{2, 4, 6, 7}));
  EXPECT_EQ(pairs.row, (Numbers{0, 0, 1, 2}));
}

}  // namespace
}  // namespace harmonia
