// stability() of many sigmas along shared directions, against the same points one by one. One thread, both in
// turn. `bench/tree_models.py FOLDER` trains the boosters; FOLDER is the argument (default:
// build/bench/models). A second argument, "all", takes the path where it is not expected to pay too, and
// "avx2" is the same with fewer instructions.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/model/ray_path.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 3;
constexpr std::size_t kRows = 3;
constexpr std::uint64_t kSamples = 300;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// 0.1 … 2 standard deviations.
std::vector<double> sigmas_of(std::size_t count) {
  std::vector<double> sigmas;
  for (std::size_t i = 0; i < count; ++i)
    sigmas.push_back(0.1 + 1.9 * static_cast<double>(i) / static_cast<double>(count - 1));
  return sigmas;
}

StabilityResult measure(const Model& model, const Matrix<double>& rows, std::size_t sigmas) {
  StabilityOptions options;
  options.sigmas = sigmas_of(sigmas);
  options.samples = kSamples;
  Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
  const auto data = make_memory_source(rows.view());
  return stability(model, *data, options, run);
}

Matrix<double> first_rows(const std::filesystem::path& file) {
  const auto source = open_data(file.string(), {});
  RowBlock block;
  require(source->read(block, kRows), "no rows");
  return block.values;
}

void compare(const std::string& name, const Model& fast, const Model& points, const Matrix<double>& rows) {
  for (const std::size_t sigmas : {5, 10, 20, 40, 60, 120}) {
    const StabilityResult ours = measure(fast, rows, sigmas), theirs = measure(points, rows, sigmas);
    for (std::size_t i = 0; i < ours.rows.size(); ++i)
      for (std::size_t s = 0; s < sigmas; ++s)
        require(ours.rows[i].points[s].frequencies == theirs.rows[i].points[s].frequencies,
                fmt::format("{}, row {}, sigma {}", name, i, s));
    const TwoSides times = time_in_turn(
        kRepeats, [&] { measure(fast, rows, sigmas); }, [&] { measure(points, rows, sigmas); });
    const auto count = static_cast<double>(rows.rows() * kSamples * sigmas);
    fmt::print("{:<22} {:>4} sigmas: {:8.3f} us a point, one by one {:8.3f}: {:5.2f} times{}\n", name, sigmas,
               1e6 * times.ours.processor / count, 1e6 * times.theirs.processor / count,
               times.theirs.processor / times.ours.processor,
               ours.fast_path.empty() ? ", both one by one" : "");
    std::fflush(stdout);
  }
}

void compare_trees(const std::filesystem::path& file, std::size_t features, const std::string& how) {
  const TreeEnsemble ensemble = read_xgboost(read(file), file.string());
  const auto open = [&](bool fast) {
    return make_tree_model(ensemble, {.name = file.string(),
                                      .kind = "xgboost",
                                      .sha256 = "",
                                      .simd = how == "avx2" ? Simd::avx2 : best_simd(),
                                      .fast_path = fast,
                                      .by_cost = how.empty()});
  };
  compare(file.stem().string(), *open(true), *open(false),
          first_rows(file.parent_path() / fmt::format("rows_{}.npy", features)));
}

}  // namespace

void run(const std::filesystem::path& folder, const std::string& how) {
  for (const std::size_t features : {10, 100, 1000}) {
    for (const std::size_t trees : {200, 1000}) {
      const auto file = folder / fmt::format("trees_{}_{}_6.ubj", features, trees);
      if (std::filesystem::exists(file)) compare_trees(file, features, how);
    }
  }
}

}  // namespace harmonia::bench

int main(int argc, char** argv) {
  harmonia::bench::run(argc > 1 ? argv[1] : "build/bench/models", argc > 2 ? argv[2] : "");
  return 0;
}
