// Points that share directions: by the units of a network's first layer, whose products are kept, against the
// points themselves, both by ONNX Runtime on one thread, in turn. ReLU networks of random weights. Errors are
// root mean squares of answers against float64.
//
//     build/bench/first_layer_bench
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "../tests/support/dense_files.hpp"
#include "../tests/support/dense_networks.hpp"
#include "../tests/support/temporary_file.hpp"
#include "bench.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/persistence.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/model/black_box.hpp"
#include "harmonia/model/onnx_model.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 7, kRepeatsOfMeasures = 3;
constexpr std::size_t kRows = 8, kDirections = 256;

Matrix<double> rows_of(std::size_t count, std::size_t inputs) {
  Matrix<double> x(count, inputs);
  std::vector<float> z(inputs);
  for (std::size_t i = 0; i < count; ++i) {
    normals({.seed = 2, .row = i}, z);
    std::copy(z.begin(), z.end(), x.row(i));
  }
  return x;
}

double error_of(const Matrix<double>& answers, const Matrix<double>& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.rows() * exact.columns(); ++i)
    sum += std::pow(answers.row(0)[i] - exact.row(0)[i], 2);
  return std::sqrt(sum / static_cast<double>(exact.rows() * exact.columns()));
}

// The points of rotated balls, some directions of each.
struct Rotated {
  TwoSides least;
  double points = 0, products = 0;  // seconds to make the products
  double error_points = 0, error_units = 0;
  bool taken = false;
};

Rotated rotated(const DenseNetwork& network, const Model& parts, const Model& whole) {
  const std::size_t n = network.inputs(), directions = std::min(kDirections, n + 1);
  BallOptions options = parse_ball("rotated:1");
  options.radius = 0.5;
  const Ball ball(options, {}, 1);
  ball.rotations(n);  // made once, whatever asks for points
  const Matrix<double> x = rows_of(kRows, n);
  std::vector<RowBall> balls;
  for (std::size_t i = 0; i < kRows; ++i) balls.emplace_back(ball, std::span<const double>(x.row(i), n), i);
  std::vector<PointRequest> requests;
  std::uint64_t points = 0;
  for (const RowBall& around : balls) {
    requests.push_back({.ball = &around, .order = nullptr, .first = 0, .count = directions, .centre = true});
    points += requests.back().points();
  }
  Rotated result{.least = {}, .points = static_cast<double>(points)};
  result.taken = SharedUnits::of_ball(parts, ball) != nullptr;
  const std::vector<double> origin(n);
  const SharedUnits shared(parts, {n + 1, [&](std::uint64_t k, std::span<double> d) {
                                     RowBall(ball, origin, 0).displacement(k, d);
                                   }});
  Run run;
  BlackBox by_units(parts, 0, run, 1, &shared), by_points(whole, 0, run, 1);
  Matrix<double> units(points, network.outputs()), plain(points, network.outputs()),
      exact(points, network.outputs()), coordinates(points, n);
  const double first = time_once([&] { by_units.evaluate(requests, units.view()); }).processor;
  by_points.evaluate(requests, plain.view());
  std::size_t at = 0;
  std::vector<double> u(n);
  for (const RowBall& around : balls) {
    std::copy_n(around.x().data(), n, coordinates.row(at++));
    for (std::uint64_t k = 0; k < directions; ++k) {
      around.direction(k, u);
      for (std::size_t p = 0; p < 2; ++p)
        around.fill_dense(around.place(k, p), u, {coordinates.row(at++), n});
    }
  }
  evaluate_dense(network, std::as_const(coordinates).view(), exact.view());
  result.error_points = error_of(plain, exact);
  result.error_units = error_of(units, exact);
  require(result.error_units <= result.error_points, "units are farther from float64 than points");
  result.least = time_in_turn(
      kRepeats, [&] { by_units.evaluate(requests, units.view()); },
      [&] { by_points.evaluate(requests, plain.view()); });
  result.products = first - result.least.ours.processor;
  return result;
}

// A whole measure of some rows, with all that it makes ready.
template <class Measure>
double ratio_of(const Model& parts, const Model& whole, const Measure& measure) {
  const TwoSides least = time_in_turn(
      kRepeatsOfMeasures, [&] { measure(parts); }, [&] { measure(whole); });
  return least.theirs.processor / least.ours.processor;
}

void measure_stability(const Model& model) {
  StabilityOptions options;
  options.sigmas = {0.1, 0.2, 0.5, 1, 2};
  options.samples = 200;
  const Matrix<double> x = rows_of(16, model.info().inputs);
  const auto data = make_memory_source(x.view());
  Run run;
  run.threads = 1;
  stability(model, *data, options, run);
}

void measure_persistence(const Model& model) {
  PersistenceOptions options;
  options.precision = 0.05;
  const Matrix<double> x = rows_of(8, model.info().inputs);
  const auto data = make_memory_source(x.view());
  Run run;
  run.threads = 1;
  persistence(model, *data, options, run, [](const PersistenceRow&) {});
}

void measure(const std::vector<std::size_t>& widths) {
  const DenseNetwork network = test::random_dense(widths, {.kind = DenseActivation::Kind::leaky});
  const test::TemporaryFile saved("network.onnx", test::dense_file<float>(network, "Relu"));
  ModelOptions points_alone;
  points_alone.fast_path = false;
  const auto parts = open_onnx_model(saved.path(), {}, {}),
             whole = open_onnx_model(saved.path(), points_alone, {});
  require(parts->first_layer() != nullptr, parts->info().fast_path);
  const Rotated r = rotated(network, *parts, *whole);
  const auto name = fmt::format("{}", fmt::join(widths, "-"));
  fmt::print("| {}{} | {:.0f} | {:.0f} | {:.2f} | {:.1f} | {:.2f} | {:.2f} | {:.1e} | {:.1e} |\n", name,
             r.taken ? "" : " (not taken)", r.points / r.least.theirs.processor,
             r.points / r.least.ours.processor, r.least.theirs.processor / r.least.ours.processor,
             1e3 * r.products, ratio_of(*parts, *whole, measure_stability),
             ratio_of(*parts, *whole, measure_persistence), r.error_points, r.error_units);
  std::fflush(stdout);
}

}  // namespace
}  // namespace harmonia::bench

int main() {
  fmt::print(
      "| network | points/s | by units, points/s | ratio | products, ms | stability | persistence | error of "
      "points | error of units |\n|---|---|---|---|---|---|---|---|---|\n");
  const std::vector<std::vector<std::size_t>> networks{
      {4, 64, 3},          {8, 32, 3},          {20, 20, 3},    {20, 64, 3},         {20, 512, 3},
      {20, 64, 64, 3},     {100, 128, 128, 10}, {784, 128, 10}, {784, 256, 256, 10}, {784, 1568, 1568, 10},
      {3072, 512, 256, 10}};
  for (const auto& widths : networks) harmonia::bench::measure(widths);
}
