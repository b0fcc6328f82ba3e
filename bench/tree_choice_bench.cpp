// Which way balls of trees are answered: all points together, one by one, and the one that is chosen by what
// they are expected to cost. gamma() of the whole ball, one thread, microseconds a row. The boosters are
// those of `bench/tree_models.py FOLDER`; FOLDER is the argument.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 7;

GammaSummary measure(const Model& model, const Matrix<double>& x, const GammaOptions& options,
                     std::vector<double>* gammas = nullptr) {
  Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
  const auto data = make_memory_source(x.view());
  return gamma(model, *data, options, run, [&](const GammaRow& row) {
    if (gammas != nullptr) gammas->push_back(row.gamma.value_or(-1));
  });
}

void compare(const std::filesystem::path& folder, const char* library, std::size_t features) {
  const bool lightgbm = library == std::string("LightGBM");
  const auto file = folder / (lightgbm ? fmt::format("lightgbm_{}_200.txt", features)
                                       : fmt::format("trees_{}_200_6.ubj", features));
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const TreeEnsemble ensemble =
      lightgbm ? read_lightgbm(text, file.string()) : read_xgboost(text, file.string());
  const auto open = [&](bool fast, bool by_cost) {
    return make_tree_model(ensemble, {.name = file.string(),
                                      .kind = lightgbm ? "lightgbm" : "xgboost",
                                      .sha256 = "",
                                      .margin = true,
                                      .fast_path = fast,
                                      .cells = false,
                                      .by_cost = by_cost});
  };
  const auto balls = open(true, false), points = open(false, true), chosen = open(true, true);
  const auto source = open_data((folder / fmt::format("rows_{}.npy", features)).string(), {});
  RowBlock rows;
  require(source->read(rows, 1U << 20), "no rows");
  for (const BallKind kind : {BallKind::cross, BallKind::simplex, BallKind::simplex_pairs}) {
    for (const double radius : {0.03, 0.1, 0.3, 1.0}) {
      GammaOptions options;
      options.ball.kind = kind;
      options.ball.radius = radius;
      std::vector<double> one, other;
      measure(*balls, rows.values, options, &one);
      measure(*points, rows.values, options, &other);
      require(one == other, fmt::format("{}, radius {}", file.string(), radius));
      const bool together = !measure(*chosen, rows.values, options).fast_path.empty();
      const TwoSides time = time_in_turn(
          kRepeats, [&] { measure(*balls, rows.values, options); },
          [&] { measure(*points, rows.values, options); });
      const double each = 1e6 / static_cast<double>(rows.values.rows());
      fmt::print("{:<8} {:>5} features, {:<13} r = {:<5} together {:7.2f}, one by one {:7.2f}: {}\n", library,
                 features, ball_name(options.ball), radius, each * time.ours.processor,
                 each * time.theirs.processor, together ? "together" : "one by one");
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace harmonia::bench

int main(int argc, char** argv) {
  const char* const folder = argc > 1 ? argv[1] : "build/bench/models";
  for (const std::size_t features : {4, 10, 20, 100}) harmonia::bench::compare(folder, "XGBoost", features);
  harmonia::bench::compare(folder, "LightGBM", 100);
  return 0;
}
