#include "harmonia/measure/alignment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"
#include "support/networks.hpp"

namespace harmonia {
namespace {

// A classifier whose first output has this gradient everywhere, and whose second is zero.
test::DenseNetwork linear(const std::vector<double>& gradient) {
  test::DenseNetwork::Layer layer{Matrix<double>(2, gradient.size()), {0.5, 0}};
  std::copy(gradient.begin(), gradient.end(), layer.weights.row(0));
  return test::DenseNetwork({layer});
}

Matrix<double> rows_of(const std::vector<std::vector<double>>& rows) {
  Matrix<double> matrix(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), matrix.row(i));
  return matrix;
}

AlignmentResult align(const Model& model, const Matrix<double>& rows, const ComponentsFound& components,
                      const AlignmentOptions& options = {}) {
  harmonia::Run run;
  const auto data = make_memory_source(rows.view());
  return alignment(model, *data, components, options, run);
}

// Two directions that are not at right angles, as components of two labels are.
ComponentsFound slanted() {
  const double half = std::numbers::sqrt2 / 2;
  return {.mean = {0, 0, 0}, .directions = rows_of({{1, 0, 0}, {half, half, 0}}), .explained = 1, .rows = 2};
}

TEST(Alignment, GoldenValuesAsPrintedAndRight) {
  const Matrix<double> row = rows_of({{0.1, 0.2, 0.3}});
  struct Golden {
    std::vector<double> gradient;
    double printed, right;
  };
  for (const Golden& golden : {Golden{{1, 2, 2}, 1.5902596, 1.3416408}, Golden{{0, 1, 0}, 1.4142136, 1}}) {
    const test::DenseNetwork network = linear(golden.gradient);
    for (const AlignedGradient gradient : {AlignedGradient::loss, AlignedGradient::output}) {
      EXPECT_NEAR(*align(network, row, slanted(), {.gradient = gradient, .paper = true}).rows[0].ratio,
                  golden.printed, 1e-7);
      const AlignmentResult right = align(network, row, slanted(), {.gradient = gradient});
      EXPECT_NEAR(*right.rows[0].ratio, golden.right, 1e-7);
      EXPECT_NEAR(*right.rows[0].cosine, 1 / golden.right, 1e-8);
      EXPECT_NEAR(*right.rows[0].rejection, std::sqrt(1 - 1 / (golden.right * golden.right)), 1e-7);
      EXPECT_EQ(right.dimensions, 2U);
    }
  }
}

// A gradient drawn at random has the plane's share of the dimensions in it.
TEST(Alignment, RandomGradientsHaveTheirShare) {
  constexpr std::size_t kInputs = 60, kDirections = 12, kNetworks = 400;
  Matrix<double> directions(kDirections, kInputs);
  std::vector<float> drawn(kInputs);
  for (std::size_t k = 0; k < kDirections; ++k) {
    normals({.seed = 3, .row = k}, drawn);
    std::copy(drawn.begin(), drawn.end(), directions.row(k));
  }
  const ComponentsFound components{std::vector<double>(kInputs), directions, 1, 2};
  Moments squares;
  for (std::size_t n = 0; n < kNetworks; ++n) {
    normals({.seed = 4, .row = n}, drawn);
    const AlignmentResult result =
        align(linear({drawn.begin(), drawn.end()}), Matrix<double>(1, kInputs), components);
    squares.add(*result.rows[0].cosine * *result.rows[0].cosine);
    EXPECT_DOUBLE_EQ(result.by_chance, 0.2);
  }
  EXPECT_NEAR(squares.mean(), 0.2, 4 * squares.standard_error());
}

// Answers so sure that a probability is 1 in double still have the direction of their loss.
TEST(Alignment, SureAnswersKeepTheirDirection) {
  const test::DenseNetwork network = linear({1, 2, 2});
  const AlignmentResult result = align(network, rows_of({{500, 500, 500}, {-500, -500, -500}}), slanted());
  EXPECT_EQ(result.rows[0].decided_class, 0);
  EXPECT_EQ(result.rows[1].decided_class, 1);
  for (const AlignmentRow& row : result.rows) EXPECT_NEAR(*row.ratio, 1.3416408, 1e-7);
}

TEST(Alignment, NoGradientAndNothingAlong) {
  EXPECT_EQ(align(linear({0, 0, 0}), rows_of({{1, 2, 3}}), slanted()).rows[0].outcome,
            AlignmentOutcome::flat);
  const AlignmentResult across = align(linear({0, 0, 3}), rows_of({{1, 2, 3}}), slanted());
  EXPECT_EQ(across.rows[0].outcome, AlignmentOutcome::across);
  EXPECT_FALSE(across.rows[0].ratio);
  EXPECT_EQ(across.ratio.rows, 0U);
  EXPECT_EQ(across.cosine.rows, 1U);
}

TEST(Alignment, LabelsSayWhoseLoss) {
  // Three outputs along three axes: the loss of class k is steepest along its own axis.
  test::DenseNetwork::Layer layer{rows_of({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), {0, 0, 0}};
  const test::DenseNetwork network({layer});
  const ComponentsFound axis{{0, 0, 0}, rows_of({{0, 1, 0}}), 1, 2};
  const Matrix<double> row = rows_of({{0, 0, 0}});
  class Labelled final : public RowSource {
   public:
    Labelled(const Matrix<double>& rows, std::string label) : rows_(rows), label_(std::move(label)) {
      info_.inputs = rows.columns();
      info_.source = "rows";
    }
    const DataInfo& info() const override { return info_; }
    bool read(RowBlock& block, std::size_t) override {
      if (done_) return false;
      block.reset(0, 1, rows_.columns());
      std::copy_n(rows_.row(0), rows_.columns(), block.values.row(0));
      block.labels = {label_};
      return done_ = true;
    }
    void rewind() override { done_ = false; }

   private:
    DataInfo info_;
    const Matrix<double>& rows_;
    std::string label_;
    bool done_ = false;
  };
  harmonia::Run run;
  Labelled one(row, "1"), unknown(row, "dog");
  // softmax − one-hot of class 1 at equal outputs is (1, −2, 1)/3.
  EXPECT_NEAR(*alignment(network, one, axis, {}, run).rows[0].cosine, 2 / std::sqrt(6.0), 1e-12);
  EXPECT_NEAR(*align(network, row, axis).rows[0].cosine, 1 / std::sqrt(6.0), 1e-12);
  test::expect_error(
      ErrorCode::input,
      "row 0 has the label 'dog'; expected the number of one of the 3 outputs of model network",
      [&] { alignment(network, unknown, axis, {}, run); });
}

TEST(Alignment, BadInput) {
  const Matrix<double> row = rows_of({{1, 2, 3}});
  const test::RowFunction plain(3, 2, [](const double*, double* y) { y[0] = y[1] = 0; });
  test::expect_error(
      ErrorCode::model,
      "model test is of kind test, which has no gradients; alignment takes a TorchScript model (net.pt) "
      "or, in Python, a torch.nn.Module",
      [&] { align(plain, row, slanted()); });
  test::expect_error(ErrorCode::input, "data has 3 columns; model network expects 2", [&] {
    align(linear({1, 2}), row, slanted());
  });
  test::expect_error(ErrorCode::input, "the plane is of rows of 2 features; memory has 3", [&] {
    align(linear({1, 2, 3}), row, {{0, 0}, rows_of({{1, 0}}), 1, 2});
  });
  test::expect_error(ErrorCode::input, "directions of a plane are all zero; expected one that is not", [&] {
    align(linear({1, 2, 3}), row, {{0, 0, 0}, rows_of({{0, 0, 0}}), 1, 2});
  });
  test::expect_error(ErrorCode::usage, "gradient 'slope' is not known; expected loss or output",
                     [&] { parse_aligned_gradient("slope"); });
}

// Rows in a plane, and a little noise: the components are the plane, and rows go back to it.
TEST(Manifold, PrincipalComponentsFindThePlane) {
  constexpr std::size_t kRows = 500, kInputs = 9;
  Matrix<double> rows(kRows, kInputs);
  std::vector<float> drawn(kInputs + 2);
  for (std::size_t i = 0; i < kRows; ++i) {
    normals({.seed = 5, .row = i}, drawn);
    for (std::size_t j = 0; j < kInputs; ++j) {
      const double u = j == 2 || j == 5 ? 1 : 0, v = j == 2 ? -1 : j == 5 ? 1 : 0;
      rows.row(i)[j] = 1000 + u * 3 * static_cast<double>(drawn[kInputs]) +
                       v * static_cast<double>(drawn[kInputs + 1]) + 1e-3 * static_cast<double>(drawn[j]);
    }
  }
  const auto data = make_memory_source(std::as_const(rows).view());
  const ComponentsFound found = principal_components(*data, {.components = 2});
  EXPECT_EQ(found.rows, kRows);
  EXPECT_GT(found.explained, 0.99999);
  const Manifold plane(found.mean, found.directions);
  EXPECT_EQ(plane.dimensions(), 2U);
  std::vector<double> along(kInputs);
  plane.project(std::vector<double>{0, 0, 3, 0, 0, -4, 0, 0, 0}, along);
  EXPECT_NEAR(along[2], 3, 1e-2);
  EXPECT_NEAR(along[5], -4, 1e-2);
  std::vector<double> back(kInputs);
  plane.project_row({rows.row(7), kInputs}, back);
  for (std::size_t j = 0; j < kInputs; ++j) EXPECT_NEAR(back[j], rows.row(7)[j], 0.01);
}

TEST(Manifold, TheBasisIsOrthonormalWhateverTheDirections) {
  const Manifold plane({0, 0, 0}, rows_of({{2, 0, 0}, {1, 1, 0}, {3, 1, 0}}));
  ASSERT_EQ(plane.dimensions(), 2U);
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      double product = 0;
      for (std::size_t j = 0; j < 3; ++j) product += plane.basis().row(a)[j] * plane.basis().row(b)[j];
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-14);
    }
  }
}

TEST(Manifold, RowsThatDoNotVaryHaveNoPlane) {
  const Matrix<double> rows = rows_of({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}),
                       line = rows_of({{1, 2, 3}, {2, 2, 3}, {5, 2, 3}});
  const auto find = [](const Matrix<double>& of, std::size_t components) {
    const auto data = make_memory_source(of.view());
    return principal_components(*data, {.components = components});
  };
  test::expect_error(ErrorCode::input,
                     "the rows of memory vary in 0 directions, not in 1; expected fewer components",
                     [&] { find(rows, 1); });
  test::expect_error(ErrorCode::input,
                     "the rows of memory vary in 1 direction, not in 2; expected fewer components",
                     [&] { find(line, 2); });
  EXPECT_DOUBLE_EQ(find(line, 1).explained, 1);
}

TEST(Alignment, ComponentsOfAllFeaturesSayNothing) {
  const ComponentsFound all{{0, 0, 0}, rows_of({{1, 0, 0}, {0, 1, 0}, {0, 1, 1}}), 1, 2};
  test::expect_error(
      ErrorCode::input,
      "the components span all 3 features, and every gradient is along them; expected fewer components", [&] {
        align(linear({1, 2, 3}), rows_of({{1, 2, 3}}), all);
      });
}

TEST(Alignment, ProbabilitiesAndAWarningWhereTheyAreNotSaid) {
  // Outputs 0.5 ± x: between 0 and 1, and 1 together.
  test::DenseNetwork::Layer layer{rows_of({{1, 2, 2}, {-1, -2, -2}}), {0.5, 0.5}};
  const test::DenseNetwork network({layer});
  const Matrix<double> row = rows_of({{0.01, 0.01, 0.01}});
  const AlignmentResult said = align(network, row, slanted(), {.probabilities = true}),
                        not_said = align(network, row, slanted());
  EXPECT_NEAR(*said.rows[0].ratio, 1.3416408, 1e-7);
  EXPECT_TRUE(said.warnings.empty());
  ASSERT_EQ(not_said.warnings.size(), 1U);
  EXPECT_NE(not_said.warnings[0].find("taken for logits"), std::string::npos);
}

TEST(Manifold, BadInput) {
  const Matrix<double> rows = rows_of({{1, 2, 3}, {4, 5, 7}});
  const auto find = [](const Matrix<double>& of, const ManifoldOptions& options) {
    const auto data = make_memory_source(of.view());
    return principal_components(*data, options);
  };
  test::expect_error(ErrorCode::usage, "components is 0; expected at least 1",
                     [&] { find(rows, {.components = 0}); });
  test::expect_error(ErrorCode::usage, "components is 3; rows have 3 features, and a plane in them has fewer",
                     [&] { find(rows, {.components = 3}); });
  test::expect_error(ErrorCode::input, "memory has 2 rows; expected more than the 2 components",
                     [&] { find(rows, {.components = 2}); });
  test::expect_error(ErrorCode::input, "memory has no labels; components by label take --label COLUMN",
                     [&] { find(rows, {.components = 1, .by_label = true}); });
  test::expect_error(ErrorCode::input,
                     "memory: row 0 has nan in column x1; the plane of the data takes finite numbers", [&] {
                       find(rows_of({{1, NAN, 3}, {4, 5, 7}}), {.components = 1});
                     });
}

}  // namespace
}  // namespace harmonia
