// What gamma costs against the number of features, of trees, their depth and the radius: microseconds a row
// by the fast path, by asking for every point, and of the model's own answer to one of many rows; one thread,
// processor time. `bench/cost_models.py FOLDER` makes the models and cases.csv; FOLDER is the argument. A CSV
// table goes to standard output; `bench/plot_cost.py` draws it.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/open_model.hpp"

namespace harmonia::bench {
namespace {

constexpr double kLeastSeconds = 0.02;  // of what is timed at once
constexpr int kRepeats = 5;
constexpr std::size_t kPoints = 20000;       // asked for one by one, or one whole ball if it has more
constexpr std::size_t kCheckedRows = 4;      // by both ways, before anything is timed
constexpr double kNetworkError = 2e-5;       // of single precision, in sizes of an output
constexpr std::size_t kEvaluatedRows = 512;  // in one call of the model

struct Case {
  std::string sweep, value, model, rows;
  double radius = 0;
};

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::istringstream fields(line);
    Case& each = cases.emplace_back();
    std::string radius;
    for (std::string* field : {&each.sweep, &each.value, &each.model, &each.rows, &radius})
      std::getline(fields, *field, ',');
    each.radius = std::stod(radius);
  }
  return cases;
}

Matrix<double> read_rows(const std::filesystem::path& path) {
  const auto source = open_data(path.string(), {});
  RowBlock block;
  require(source->read(block, std::size_t{1} << 20), "no rows");
  return std::move(block.values);
}

std::unique_ptr<Model> open(const std::filesystem::path& path, bool fast) {
  ModelOptions options;
  options.margin = true;
  options.fast_path = fast;
  return open_model(path.string(), options, {});
}

GammaSummary measure(const Model& model, MatrixView<const double> x, double radius,
                     std::vector<double>* gammas = nullptr) {
  GammaOptions options;
  options.ball = parse_ball("cross");
  options.ball.radius = radius;
  options.output = parse_output("column:0");
  Run run{.seed = 1, .threads = 1, .ledger = Ledger(), .progress = {}, .stop = {}};
  const auto data = make_memory_source(x);
  return gamma(model, *data, options, run, [&](const GammaRow& row) {
    if (gammas != nullptr) gammas->push_back(*row.gamma);
  });
}

// Trees to the bit; networks to what single precision leaves of their outputs.
void check(const Case& what, const Model& fast, const Model& slow, MatrixView<const double> x) {
  std::vector<double> by_path, by_points;
  const GammaSummary summary = measure(fast, x, what.radius, &by_path);
  const bool cells = fast.info().fast_path.starts_with("cells");  // as trees of two features are
  // Of few features, points of trees may be sooner one by one.
  const bool weighed = fast.info().kind == "xgboost";
  require((cells || weighed || !summary.fast_path.empty()) &&
              measure(slow, x, what.radius, &by_points).fast_path.empty(),
          fmt::format("{}: the fast path was not taken", what.model));
  Matrix<double> y(1, slow.info().outputs);
  for (std::size_t i = 0; i < by_path.size(); ++i) {
    double allowed = 0;
    if (!cells && !weighed) {
      const std::vector<float> row(x.row(i), x.row(i) + x.columns);
      slow.evaluate(MatrixView<const float>{row.data(), 1, row.size()}, y.view());
      allowed = kNetworkError * (1 + std::abs(y.row(0)[0]));
    }
    require(std::abs(by_path[i] - by_points[i]) <= allowed,
            fmt::format("{}, radius {}, row {}: gamma {} by the fast path, {} by points", what.model,
                        what.radius, i, by_path[i], by_points[i]));
  }
}

// Processor seconds of one call of `work`, which is repeated until a clock can tell.
template <class Work>
double least_seconds(const Work& work) {
  const double once = std::max(1e-7, time_once(work).processor);
  const int times = static_cast<int>(std::ceil(kLeastSeconds / once));
  Seconds least;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    keep_least(least, time_once([&] {
                 for (int i = 0; i < times; ++i) work();
               }));
  }
  return least.processor / times;
}

void compare(const std::filesystem::path& folder, const Case& what) {
  const auto fast = open(folder / what.model, true), slow = open(folder / what.model, false);
  const Matrix<double> rows = read_rows(folder / what.rows);
  const std::size_t n = rows.columns(), points = 2 * n + 1;
  const std::size_t asked = std::clamp<std::size_t>(kPoints / points, 1, rows.rows());
  check(what, *fast, *slow, rows.view().slice(0, std::min(kCheckedRows, asked)));
  Matrix<float> narrow(std::min(rows.rows(), kEvaluatedRows), n);
  for (std::size_t i = 0; i < narrow.rows(); ++i) std::copy_n(rows.row(i), n, narrow.row(i));
  Matrix<double> y(narrow.rows(), slow->info().outputs);
  const double one = least_seconds([&] { slow->evaluate(std::as_const(narrow).view(), y.view()); });
  const double path = least_seconds([&] { measure(*fast, rows.view(), what.radius); });
  const double by_points = least_seconds([&] { measure(*slow, rows.view().slice(0, asked), what.radius); });
  const auto each = [](double seconds, std::size_t count) {
    return 1e6 * seconds / static_cast<double>(count);
  };
  fmt::print("{},{},{},{},{:.4g},{:.4g},{:.4g}\n", what.sweep, what.model.substr(0, what.model.find('_')),
             what.value, points, each(one, narrow.rows()), each(path, rows.rows()), each(by_points, asked));
  std::fflush(stdout);
}

}  // namespace
}  // namespace harmonia::bench

int main(int argc, char** argv) {
  using namespace harmonia::bench;
  const std::filesystem::path folder = argc > 1 ? argv[1] : "build/bench/cost";
  const auto cases = read_cases(folder / "cases.csv");
  if (cases.empty()) {
    fmt::print(stderr, "no cases in {}; 'make bench-cost' makes them\n", folder.string());
    return 0;  // `make bench` runs every program
  }
  fmt::print("sweep,model,value,points,one_row_us,fast_path_us,black_box_us\n");
  try {
    for (const Case& each : cases) compare(folder, each);
  } catch (const harmonia::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
