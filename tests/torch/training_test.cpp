#include "harmonia/model/training.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/alignment.hpp"
#include "harmonia/model/torch_model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kInputs = 8;

// Rows near a plane of the first two features, in which the class is the sign of their product; the others
// are noise that tells the class a little, too.
LabelledRows crossed(std::size_t rows, std::uint64_t seed) {
  LabelledRows made{.source = "made", .values = Matrix<float>(rows, kInputs), .classes = {}};
  for (std::size_t i = 0; i < rows; ++i) {
    float* const x = made.values.row(i);
    normals({.seed = seed, .stream = Stream::noise, .row = i}, {x, kInputs});
    const bool one = x[0] * x[1] > 0;
    for (std::size_t j = 2; j < kInputs; ++j) x[j] = 0.1F * x[j] + (one ? 0.05F : -0.05F);
    made.classes.push_back(one ? 1 : 0);
  }
  return made;
}

// The first two axes.
Manifold axes() {
  Matrix<double> directions(2, kInputs);
  directions.row(0)[0] = directions.row(1)[1] = 1;
  return {std::vector<double>(kInputs), directions};
}

TrainingOptions small_network() {
  TrainingOptions options;
  options.network = {.inputs = kInputs, .classes = 2, .hidden = {32, 32}};
  options.epochs = 12;
  options.rate = 0.005;
  return options;
}

struct Trained {
  std::vector<TrainingEpoch> epochs;
  std::string file;
};

Trained trained(const TrainingOptions& options, Training training, std::uint64_t seed = 1) {
  Run run;
  run.seed = seed;
  run.threads = 1;
  Trained result;
  training.epoch_done = [&](const TrainingEpoch&, const std::string& file) { result.file = file; };
  result.epochs = train_network(options, training, run);
  return result;
}

std::unique_ptr<Model> opened(const std::string& file) {
  const test::TemporaryFile network("net.pt", file);
  const std::vector<double> example(kInputs);
  return open_torch_model(network.path(), {}, example);
}

// The share of rows that are right after every value was moved by epsilon along the sign of the gradient.
double right_when_moved(const Model& model, const LabelledRows& rows, double epsilon) {
  Matrix<double> y(rows.rows(), 2), gradients(rows.rows(), kInputs);
  const auto margin = [&](std::size_t i, std::span<const double>, std::span<double> out) {
    const auto label = static_cast<std::size_t>(rows.classes[i]);
    out[label] = 1;
    out[1 - label] = -1;
  };
  model.differentiable()->gradient(rows.values.view(), margin, y.view(), gradients.view());
  Matrix<float> moved = rows.values;
  for (std::size_t i = 0; i < rows.rows(); ++i)
    for (std::size_t j = 0; j < kInputs; ++j)
      moved.row(i)[j] -= static_cast<float>(std::copysign(epsilon, gradients.row(i)[j]));
  model.evaluate(std::as_const(moved).view(), y.view());
  std::size_t right = 0;
  for (std::size_t i = 0; i < rows.rows(); ++i)
    right += (y.row(i)[1] > y.row(i)[0]) == (rows.classes[i] == 1) ? 1U : 0U;
  return static_cast<double>(right) / static_cast<double>(rows.rows());
}

double squared_cosine(const Model& model, const LabelledRows& rows) {
  Matrix<double> values(rows.rows(), kInputs);
  std::copy_n(rows.values.row(0), rows.rows() * kInputs, values.row(0));
  const std::unique_ptr<RowSource> source = make_memory_source(std::as_const(values).view());
  ComponentsFound plane{
      .mean = axes().mean(), .directions = axes().basis(), .explained = 1, .rows = rows.rows()};
  Run run;
  return alignment(model, *source, plane, {}, run).squared_cosine.mean;
}

TEST(Training, LearnsTheClasses) {
  const LabelledRows rows = crossed(2000, 1), test = crossed(500, 2);
  const Trained result = trained(small_network(), {.rows = &rows, .test = &test});
  ASSERT_EQ(result.epochs.size(), 12U);
  EXPECT_GT(*result.epochs.back().test_right, 475U);
  EXPECT_LT(result.epochs.back().cross_entropy, result.epochs.front().cross_entropy / 3);
  EXPECT_EQ(result.epochs.back().rows, 2000U);
  EXPECT_FALSE(result.epochs.back().alignment);
  EXPECT_EQ(opened(result.file)->info().outputs, 2U);
}

TEST(Training, WritesTheNetworkThatItTested) {
  const LabelledRows rows = crossed(500, 1), test = crossed(500, 2);
  TrainingOptions options = small_network();
  options.epochs = 1;
  const Trained result = trained(options, {.rows = &rows, .test = &test});
  EXPECT_EQ(right_when_moved(*opened(result.file), test, 0) * 500,
            static_cast<double>(*result.epochs.back().test_right));
}

TEST(Training, RepeatsFromItsSeed) {
  const LabelledRows rows = crossed(300, 1);
  TrainingOptions options = small_network();
  options.epochs = 2;
  options.adversarial.epsilon = 0.05;
  const Trained first = trained(options, {.rows = &rows}), again = trained(options, {.rows = &rows}),
                other = trained(options, {.rows = &rows}, 2);
  EXPECT_EQ(first.epochs.back().objective, again.epochs.back().objective);
  EXPECT_NE(first.epochs.back().objective, other.epochs.back().objective);
}

TEST(Training, AnAlignmentTermTurnsGradientsIntoThePlane) {
  const LabelledRows rows = crossed(2000, 1), test = crossed(500, 2);
  const Manifold plane = axes();
  const double before = squared_cosine(*opened(trained(small_network(), {.rows = &rows}).file), test);
  for (const AlignmentTerm term : {AlignmentTerm::ratio, AlignmentTerm::cosine, AlignmentTerm::rejection}) {
    TrainingOptions options = small_network();
    options.term = term;
    const Trained result = trained(options, {.rows = &rows, .test = &test, .plane = &plane});
    EXPECT_TRUE(result.epochs.back().alignment);
    const double after = squared_cosine(*opened(result.file), test);
    EXPECT_LT(1 - after, (1 - before) / 3) << alignment_term_name(term);
  }
}

TEST(Training, MovedRowsMakeItRobust) {
  const LabelledRows rows = crossed(2000, 1), test = crossed(500, 2);
  TrainingOptions options = small_network();
  const double before = right_when_moved(*opened(trained(options, {.rows = &rows}).file), test, 0.1);
  options.adversarial.epsilon = 0.1;
  const double after = right_when_moved(*opened(trained(options, {.rows = &rows}).file), test, 0.1);
  EXPECT_GT(after, before + 0.05);
}

TEST(Training, RefusesWhatCannotBe) {
  const LabelledRows rows = crossed(20, 1);
  const auto refused = [&](TrainingOptions options, ErrorCode code, const char* text) {
    test::expect_error(code, text, [&] { trained(options, {.rows = &rows}); });
  };
  TrainingOptions options = small_network();
  options.penalties = {0.1};
  refused(options, ErrorCode::usage,
          "1 penalties for 3 fully connected layers; expected one for each, the last among them");
  options = small_network();
  options.network.channels = 4;
  options.network.image = {4, 2, 1};
  refused(options, ErrorCode::usage,
          "images of 4 × 2 are too small for four convolutions of 5 × 5; expected 18 × 18 or more");
  options.network.image = {4, 4, 1};
  refused(options, ErrorCode::usage, "convolutions take images; rows of 8 numbers are none of 4 × 4 × 1");
  options = small_network();
  options.term = AlignmentTerm::ratio;
  refused(options, ErrorCode::usage, "an alignment term needs the plane of the data");
  options = small_network();
  options.network.inputs = 9;
  refused(options, ErrorCode::input, "made has 8 columns; the network takes 9");
  options = small_network();
  options.device = "moon";
  refused(options, ErrorCode::usage, "--device moon: is no device; expected cpu, cuda or cuda:N");
  options = small_network();
  options.network.classes = 3;
  refused(options, ErrorCode::input,
          "no row of made has the class 2, and the classes go to 2; expected all from 0 on");
  options = small_network();
  options.batch = 0;
  refused(options, ErrorCode::usage, "no epochs, or batches of no rows; expected 1 or more");
  options = small_network();
  options.adversarial = {.epsilon = 0.1, .lower = 100};
  EXPECT_THROW(trained(options, {.rows = &rows}), Error);
  options = small_network();
  options.rate = 1e30;
  refused(options, ErrorCode::model,
          "the objective is no finite number any more; expected a smaller --rate, --alpha or --penalty");
}

TEST(Training, StopsWhenAsked) {
  const LabelledRows rows = crossed(500, 1);
  std::stop_source stop;
  harmonia::Run run;
  run.threads = 1;
  run.stop = stop.get_token();
  std::size_t epochs = 0;
  Training training{.rows = &rows};
  training.epoch_done = [&](const TrainingEpoch&, const std::string&) {
    if (++epochs == 2) stop.request_stop();
  };
  test::expect_error(ErrorCode::interrupted, "the training was stopped",
                     [&] { train_network(small_network(), training, run); });
  EXPECT_EQ(epochs, 2U);
}

}  // namespace
}  // namespace harmonia
