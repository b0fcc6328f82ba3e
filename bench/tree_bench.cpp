// Goal 4: our tree evaluator against XGBoost's own batched predictor on the same boosters and rows, one
// thread. Goals 2 and 3: all points of a ball in row-evals, which are what one row costs that evaluator in
// calls of 64 rows; beside them, what it costs in one call of all rows. `bench/tree_models.py FOLDER` trains
// the boosters; FOLDER is the argument (default: bench-models beside build/).

#include <dlfcn.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::bench {
namespace {

constexpr int kRepeats = 15;
constexpr double kMarginError = 1e-5;
constexpr std::size_t kCheckedRows = 576;  // by both ways, before anything is timed
constexpr std::size_t kTogether = 256;     // rows a call of the fast path
constexpr std::size_t kRowsACall = 64;     // of the evaluator, for a row-eval

// What we use of XGBoost's C interface, from the library that its Python package brings.
class XgBoost {
 public:
  explicit XgBoost(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    require(library_ != nullptr, fmt::format("{} cannot be loaded", path));
  }

  // The margins of all rows, in one call.
  class Booster {
   public:
    Booster(const XgBoost& xgboost, const std::string& path) : xgboost_(xgboost) {
      const auto create = xgboost.symbol<int(const void**, std::uint64_t, void**)>("XGBoosterCreate");
      const auto load = xgboost.symbol<int(void*, const char*)>("XGBoosterLoadModel");
      const auto set = xgboost.symbol<int(void*, const char*, const char*)>("XGBoosterSetParam");
      require(create(nullptr, 0, &handle_) == 0 && load(handle_, path.c_str()) == 0 &&
                  set(handle_, "nthread", "1") == 0,
              fmt::format("XGBoost does not load {}", path));
    }
    ~Booster() { xgboost_.symbol<int(void*)>("XGBoosterFree")(handle_); }

    const float* margins(MatrixView<const float> x) const {
      const auto predict = xgboost_.symbol<int(void*, const char*, const char*, void*, const std::uint64_t**,
                                               std::uint64_t*, const float**)>("XGBoosterPredictFromDense");
      const std::string array =
          fmt::format(R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
                      reinterpret_cast<std::uintptr_t>(x.data), x.rows, x.columns);
      const char* options = R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,)"
                            R"("strict_shape":false,"cache_id":0,"missing":NaN})";
      const std::uint64_t* shape = nullptr;
      std::uint64_t dimensions = 0;
      const float* result = nullptr;
      require(predict(handle_, array.c_str(), options, nullptr, &shape, &dimensions, &result) == 0,
              "XGBoost does not predict");
      return result;
    }

   private:
    const XgBoost& xgboost_;
    void* handle_ = nullptr;
  };

 private:
  template <class Function>
  Function* symbol(const char* name) const {
    auto* found = reinterpret_cast<Function*>(dlsym(library_, name));
    require(found != nullptr, fmt::format("XGBoost has no {}", name));
    return found;
  }

  void* library_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Matrix<float> rows_of(const std::filesystem::path& path) {
  const auto source = open_data(path.string(), {});
  RowBlock block;
  require(source->read(block, 1U << 20), "no rows");
  Matrix<float> x(block.values.rows(), block.values.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) std::copy_n(block.values.row(i), x.columns(), x.row(i));
  return x;
}

// The fast path's gamma is that of asking point by point.
void expect_same(const Model& fast, const Model& slow, MatrixView<const double> x,
                 const GammaOptions& options) {
  Run one, other;
  const GammaResult a = gamma(fast, x, options, one), b = gamma(slow, x, options, other);
  require(a.summary.fast_path == "trees" && b.summary.fast_path.empty(), "the fast path was not taken");
  require(a.rows.size() == b.rows.size(), "there are as many rows");
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    require(a.rows[i].gamma == b.rows[i].gamma,
            fmt::format("row {}: gamma {} by the fast path, {} without", i, a.rows[i].gamma.value_or(-1),
                        b.rows[i].gamma.value_or(-1)));
  }
}

struct Shape {
  std::size_t features, trees;
  int depth;
};

void compare(const std::filesystem::path& folder, const XgBoost& xgboost, const Shape& shape, Goals& goals) {
  const auto file = folder / fmt::format("trees_{}_{}_{}.ubj", shape.features, shape.trees, shape.depth);
  const Matrix<float> x = rows_of(folder / fmt::format("rows_{}.npy", shape.features));
  const XgBoost::Booster booster(xgboost, file.string());
  const TreeEnsemble ensemble = read_xgboost(read(file), file.string());
  struct Path {
    Simd simd;
    const char* name;
    double goal;
  };
  for (const Path& path :
       {Path{Simd::scalar, "scalar", 0}, Path{Simd::avx2, "AVX2", 3}, Path{Simd::avx512, "AVX-512", 6}}) {
    if (static_cast<int>(path.simd) > static_cast<int>(best_simd())) continue;
    const auto model = make_tree_model(
        ensemble,
        {.name = file.string(), .kind = "xgboost", .sha256 = "", .margin = true, .simd = path.simd});
    Matrix<double> y(x.rows(), 1);
    model->evaluate(x.view(), y.view());
    const float* theirs = booster.margins(x.view());
    for (std::size_t i = 0; i < x.rows(); ++i) {
      require(std::abs(y.row(i)[0] - theirs[i]) <= kMarginError * (1 + std::abs(y.row(i)[0])),
              fmt::format("row {}: {} and XGBoost's {}", i, y.row(i)[0], theirs[i]));
    }
    const TwoSides time = time_in_turn(
        kRepeats, [&] { model->evaluate(x.view(), y.view()); }, [&] { booster.margins(x.view()); });
    const std::string what = fmt::format("{} features, {} trees, depth {}, {}", shape.features, shape.trees,
                                         shape.depth, path.name);
    fmt::print("{:<52} {:7.3f} us a row, XGBoost {:7.3f}\n", what,
               1e6 * time.ours.processor / static_cast<double>(x.rows()),
               1e6 * time.theirs.processor / static_cast<double>(x.rows()));
    if (path.goal > 0) goals.at_least(what, path.goal, time.theirs.processor / time.ours.processor);
  }
}

// All points of the balls around all rows: through the fast path itself, and through gamma().
void balls(const std::filesystem::path& folder, const Shape& shape, Goals& goals) {
  const auto file = folder / fmt::format("trees_{}_{}_{}.ubj", shape.features, shape.trees, shape.depth);
  const Matrix<float> rows = rows_of(folder / fmt::format("rows_{}.npy", shape.features));
  const TreeEnsemble ensemble = read_xgboost(read(file), file.string());
  const auto open = [&](bool fast) {
    return make_tree_model(
        ensemble,
        {.name = file.string(), .kind = "xgboost", .sha256 = "", .margin = true, .fast_path = fast});
  };
  const auto model = open(true), slow = open(false);
  Matrix<double> x(rows.rows(), rows.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) std::copy_n(rows.row(i), x.columns(), x.row(i));
  Matrix<double> y(x.rows(), 1);
  struct Case {
    BallKind kind;
    double radius, goal;
  };
  for (const Case& each : {Case{BallKind::cross, 0.01, 1.3}, Case{BallKind::cross, 0.1, 2},
                           Case{BallKind::cross, 0.3, 3.5}, Case{BallKind::simplex_pairs, 0.1, 3}}) {
    GammaOptions options;
    options.ball.kind = each.kind;
    options.ball.radius = each.radius;
    expect_same(*model, *slow, x.view().slice(0, kCheckedRows), options);
    const Ball ball(options.ball, {}, 1);
    std::vector<RowBall> around;
    std::vector<const RowBall*> asked;
    for (std::size_t i = 0; i < x.rows(); ++i)
      around.emplace_back(ball, std::span<const double>(x.row(i), x.columns()), i);
    asked.reserve(around.size());
    for (const RowBall& row : around) asked.push_back(&row);
    std::vector<BallAnswer> answers(kTogether);
    const auto asker = model->ball_path()->open(ball);
    require(asker != nullptr, "points one by one are not expected to be sooner");
    const auto all_points = [&] {
      for (std::size_t first = 0; first < asked.size(); first += kTogether)
        asker->evaluate(std::span(asked).subspan(first, kTogether), answers);
    };
    const auto all_rows = [&] { model->evaluate(std::as_const(rows).view(), y.view()); };
    const auto in_calls = [&] {
      for (std::size_t first = 0; first < rows.rows(); first += kRowsACall)
        model->evaluate(std::as_const(rows).view().slice(first, kRowsACall),
                        y.view().slice(first, kRowsACall));
    };
    const auto whole = [&] {
      Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
      const auto data = make_memory_source(x.view());
      gamma(*model, *data, options, run, [](const GammaRow&) {});
    };
    const TwoSides points = time_in_turn(kRepeats, all_points, in_calls);
    const TwoSides gammas = time_in_turn(kRepeats, whole, all_rows);
    const std::string what = fmt::format("{} features, {} trees, depth {}, {}, r = {}", shape.features,
                                         shape.trees, shape.depth, ball_name(options.ball), each.radius);
    goals.of(each.kind == BallKind::cross ? 2 : 3);
    goals.at_most(what, each.goal, points.ours.processor / points.theirs.processor);
    const double a_row = 1e6 / static_cast<double>(x.rows());
    fmt::print("{:<68} {:6.2f} us, {:5.2f} row-evals, {:5.2f} of all rows in a call; gamma() {:6.2f} us\n",
               what, a_row * points.ours.processor, points.ours.processor / points.theirs.processor,
               points.ours.processor / gammas.theirs.processor, a_row * gammas.ours.processor);
  }
}

}  // namespace

void run(const std::filesystem::path& folder) {
  std::ifstream path(folder / "xgboost.path");
  std::string library;
  if (!std::getline(path, library)) {
    fmt::print("no boosters in {}; 'make bench' trains them\n", folder.string());
    return;
  }
  const XgBoost xgboost(library);
  Goals goals(4);
  for (const Shape& shape :
       {Shape{100, 200, 6}, Shape{100, 1000, 6}, Shape{100, 200, 8}, Shape{1000, 200, 6}}) {
    compare(folder, xgboost, shape, goals);
  }
  for (const Shape& shape : {Shape{10, 200, 6}, Shape{100, 200, 6}, Shape{100, 1000, 6}, Shape{1000, 200, 6},
                             Shape{1000, 1000, 6}}) {
    balls(folder, shape, goals);
  }
  goals.print();
}

}  // namespace harmonia::bench

int main(int argc, char** argv) {
  harmonia::bench::run(argc > 1 ? argv[1] : "build/bench/models");
  return 0;
}
