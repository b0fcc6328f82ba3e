// Trees of two columns: a row looked up in the table of cells against walking the trees, and gamma of a grid
// by the table, by whole balls and by points. `bench/tree_models.py FOLDER` trains the boosters; FOLDER is
// the argument (default: build/bench/models).

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "bench.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 7;
constexpr std::size_t kRows = 256;       // a call
constexpr std::size_t kEnough = 200000;  // rows from which on there is a table
constexpr const char* kGrid = "grid:-3..3x101,-3..3x61";

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

GammaSummary gamma_of_grid(const Model& model) {
  GammaOptions options;
  options.ball.kind = BallKind::cross;
  options.ball.radius = 0.05;
  Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
  const auto data = open_data(kGrid, {});
  return gamma(model, *data, options, run, [](const GammaRow&) {});
}

void compare(const std::filesystem::path& folder, std::size_t trees) {
  const auto file = folder / fmt::format("trees_2_{}_6.ubj", trees);
  const TreeEnsemble ensemble = read_xgboost(read(file), file.string());
  const auto open = [&](bool fast, bool cells) {
    return make_tree_model(
        ensemble,
        {.name = file.string(), .kind = "xgboost", .sha256 = "", .fast_path = fast, .cells = cells});
  };
  const auto table = open(true, true), balls = open(true, false), points = open(false, false);
  require(table->info().fast_path.starts_with("cells"), "there is a table");
  const auto source = open_data((folder / "rows_2.npy").string(), {});
  RowBlock block;
  require(source->read(block, 1U << 20), "no rows");
  Matrix<float> x(block.values.rows(), 2);
  for (std::size_t i = 0; i < x.rows(); ++i) std::copy_n(block.values.row(i), 2, x.row(i));
  Matrix<double> ours(x.rows(), 1), theirs(x.rows(), 1);
  const auto evaluate = [&](const Model& model, Matrix<double>& y) {
    for (std::size_t first = 0; first < x.rows(); first += kRows) {
      const std::size_t count = std::min(kRows, x.rows() - first);
      model.evaluate(std::as_const(x).view().slice(first, count), y.view().slice(first, count));
    }
  };
  for (std::size_t asked = 0; asked < kEnough; asked += x.rows()) evaluate(*table, ours);
  evaluate(*points, theirs);
  for (std::size_t i = 0; i < x.rows(); ++i)
    require(ours.row(i)[0] == theirs.row(i)[0], fmt::format("row {} is looked up as it is walked", i));
  const TwoSides rows = time_in_turn(
      kRepeats, [&] { evaluate(*table, ours); }, [&] { evaluate(*points, theirs); });
  fmt::print("{:>5} trees: {:6.1f} ns a row looked up, {:7.1f} walked: {:5.1f} times\n", trees,
             1e9 * rows.ours.processor / static_cast<double>(x.rows()),
             1e9 * rows.theirs.processor / static_cast<double>(x.rows()),
             rows.theirs.processor / rows.ours.processor);

  require(*gamma_of_grid(*table).gamma.mean == *gamma_of_grid(*points).gamma.mean, "gamma is the same");
  // A model of its own each time, which has to make its table.
  const auto fresh = [&] { gamma_of_grid(*open(true, true)); };
  const auto by_balls = time_in_turn(kRepeats, fresh, [&] { gamma_of_grid(*open(true, false)); });
  const auto by_points = time_in_turn(kRepeats, fresh, [&] { gamma_of_grid(*open(false, false)); });
  fmt::print(
      "             gamma of {}, with opening and making the table: balls take {:4.1f} times as long, "
      "points {:4.1f}\n",
      kGrid, by_balls.theirs.processor / by_balls.ours.processor,
      by_points.theirs.processor / by_points.ours.processor);
}

}  // namespace

void run(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "trees_2_1000_6.ubj")) {
    fmt::print("no boosters in {}; 'make bench' trains them\n", folder.string());
    return;
  }
  for (const std::size_t trees : {200, 1000}) compare(folder, trees);
}

}  // namespace harmonia::bench

int main(int argc, char** argv) {
  harmonia::bench::run(argc > 1 ? argv[1] : "build/bench/models");
  return 0;
}
