// Goal 11: classifier calls that a persistence of a given accuracy takes, against the paper's bracketing, on
// classes whose persistence is known in closed form. The arguments are the number of repeats (default
// 100) and a precision for all classes instead of their own.

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/measure/persistence.hpp"
#include "harmonia/model/function_model.hpp"

namespace harmonia::bench {
namespace {

constexpr std::size_t kDimensions = 50;

struct Case {
  std::string name, function;
  std::map<std::string, double> parameters;
  double off;  // of the row from the origin, along the first feature
  double truth;
  double precision;  // half-width that is asked for: twice the RMS error of the goal
};

struct Accuracy {
  double error = 0, calls = 0, covered = 0;
};

// RMS relative error, calls and the share of intervals that hold the truth, over seeds.
Accuracy accuracy(const Case& what, int repeats, bool paper) {
  const auto model = make_function_model(what.function, kDimensions, what.parameters);
  Matrix<double> row(1, kDimensions);
  row.row(0)[0] = what.off;
  PersistenceOptions options;
  options.precision = what.precision;
  options.most = 1U << 17;
  options.paper = paper;
  Accuracy result;
  for (int seed = 1; seed <= repeats; ++seed) {
    const auto data = make_memory_source(std::as_const(row).view());
    Run run{.seed = static_cast<std::uint64_t>(seed),
            .threads = 1,
            .ledger = Ledger(),
            .progress = {},
            .stop = {}};
    persistence(*model, *data, options, run, [&](const PersistenceRow& entry) {
      require(entry.sigma.has_value(), fmt::format("{}: {}", what.name, outcome_name(entry.outcome)));
      result.error += std::pow(*entry.sigma / what.truth - 1, 2) / repeats;
      result.covered +=
          entry.low && *entry.low <= what.truth && what.truth <= *entry.high ? 1.0 / repeats : 0;
    });
    result.calls += static_cast<double>(run.ledger.spent()) / repeats;
  }
  result.error = std::sqrt(result.error);
  return result;
}

}  // namespace

void run(int repeats, double precision) {
  std::vector<Case> cases{
      {"ball, radius 5, from its centre", "ball-class", {{"r", 5}}, 0, .675905, .02},
      {"ball, radius 5, from 3 off its centre", "ball-class", {{"r", 5}}, 3, .528522, .02},
      {"cone of 60 degrees", "cone", {{"angle", 60}}, 0, .218037, .02},
      {"cone of 80 degrees", "cone", {{"angle", 80}}, 0, .569338, .02},
      {"half-space", "half-space", {{"d", 1}}, 0, 1.906939, .04}};
  for (Case& what : cases) what.precision = precision > 0 ? precision : what.precision;
  Goals goals(11);
  fmt::print("{:<40} {:>18} {:>24}\n", "", "ours: calls, error", "bracketing: calls, error");
  for (const Case& what : cases) {
    const Accuracy ours = accuracy(what, repeats, false), theirs = accuracy(what, repeats, true);
    fmt::print("{:<40} {:>9.0f} {:>6.2f} %  {:>13.0f} {:>6.2f} %   intervals hold {:.3f}\n", what.name,
               ours.calls, 100 * ours.error, theirs.calls, 100 * theirs.error, ours.covered);
    if (what.function == "half-space") {
      goals.at_most(what.name + ", calls / 15800", 2.5, ours.calls / 15800);
    } else {
      goals.at_least(what.name + ", bracketing / ours", 5, theirs.calls / ours.calls);
    }
  }
  goals.print();
}

}  // namespace harmonia::bench

int main(int argc, char** argv) {
  harmonia::bench::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 100, argc > 2 ? std::atof(argv[2]) : 0);
  return 0;
}
