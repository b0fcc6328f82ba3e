// Our tree evaluator against LightGBM's own predictor on the same booster and rows, batched, one thread.
// There is no goal for it: goal 4 is of XGBoost. `bench/tree_models.py FOLDER` trains the booster; FOLDER is
// the argument.

#include <dlfcn.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 15;
constexpr double kMarginError = 1e-9;

// What we use of LightGBM's C interface, from the library that its Python package brings.
class LightGbm {
 public:
  LightGbm(const std::string& library, const std::string& booster)
      : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    require(library_ != nullptr, fmt::format("{} cannot be loaded", library));
    int rounds = 0;
    const auto create = symbol<int(const char*, int*, void**)>("LGBM_BoosterCreateFromModelfile");
    require(create(booster.c_str(), &rounds, &handle_) == 0,
            fmt::format("LightGBM does not load {}", booster));
    predict_ = symbol<Predict>("LGBM_BoosterPredictForMat");
  }
  ~LightGbm() { symbol<int(void*)>("LGBM_BoosterFree")(handle_); }
  LightGbm(const LightGbm&) = delete;
  LightGbm& operator=(const LightGbm&) = delete;

  // The margins of all rows, in one call.
  void margins(MatrixView<const double> x, std::vector<double>& out) const {
    constexpr int kDoubles = 1, kRowMajor = 1, kMargins = 1, kFirst = 0, kAll = -1;
    std::int64_t length = 0;
    out.resize(x.rows);
    require(predict_(handle_, x.data, kDoubles, static_cast<std::int32_t>(x.rows),
                     static_cast<std::int32_t>(x.columns), kRowMajor, kMargins, kFirst, kAll, "num_threads=1",
                     &length, out.data()) == 0,
            "LightGBM does not predict");
  }

 private:
  using Predict = int(void*, const void*, int, std::int32_t, std::int32_t, int, int, int, int, const char*,
                      std::int64_t*, double*);
  template <class Function>
  Function* symbol(const char* name) const {
    auto* found = reinterpret_cast<Function*>(dlsym(library_, name));
    require(found != nullptr, fmt::format("LightGBM has no {}", name));
    return found;
  }

  void* library_;
  void* handle_ = nullptr;
  Predict* predict_ = nullptr;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

void run(const std::filesystem::path& folder) {
  std::ifstream path(folder / "lightgbm.path");
  std::string library;
  if (!std::getline(path, library)) {
    fmt::print("no booster of LightGBM in {}; 'make bench' trains it\n", folder.string());
    return;
  }
  const auto file = folder / "lightgbm_100_200.txt";
  const LightGbm lightgbm(library, file.string());
  const auto model =
      make_tree_model(read_lightgbm(read(file), file.string()),
                      {.name = file.string(), .kind = "lightgbm", .sha256 = "", .margin = true});
  const auto source = open_data((folder / "rows_100.npy").string(), {});
  RowBlock block;
  require(source->read(block, 1U << 20), "no rows");
  const MatrixView<const double> x = std::as_const(block.values).view();
  Matrix<double> ours(x.rows, 1);
  std::vector<double> theirs;
  model->evaluate(x, ours.view());
  lightgbm.margins(x, theirs);
  for (std::size_t i = 0; i < x.rows; ++i) {
    require(std::abs(ours.row(i)[0] - theirs[i]) <= kMarginError * (1 + std::abs(theirs[i])),
            fmt::format("row {}: {} and LightGBM's {}", i, ours.row(i)[0], theirs[i]));
  }
  const TwoSides time = time_in_turn(
      kRepeats, [&] { model->evaluate(x, ours.view()); }, [&] { lightgbm.margins(x, theirs); });
  const double each = 1e6 / static_cast<double>(x.rows);
  fmt::print("100 features, 200 trees of 31 leaves: {:.3f} us a row, LightGBM {:.3f}\n",
             each * time.ours.processor, each * time.theirs.processor);
  fmt::print(" 4  {:<58} no goal   {:9.3f}\n", "LightGBM, 100 features, 200 trees of 31 leaves",
             time.theirs.processor / time.ours.processor);
}

}  // namespace harmonia::bench

int main(int argc, char** argv) {
  harmonia::bench::run(argc > 1 ? argv[1] : "build/bench/models");
  return 0;
}
