#include "gamma_options.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "row_estimator.hpp"

namespace harmonia {
namespace {

// The paper samples only where a whole ball is too much for it [Kersting 2024, section 5].
constexpr std::size_t kPaperWholeBall = 1000;
constexpr double kPaperShare = 0.001;

}  // namespace

void check_options(const GammaOptions& options, const ModelInfo& model, std::size_t inputs) {
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  check_confidence(options.confidence);
  if (!(options.precision >= 0) || !(options.floor >= 0) ||
      !std::isfinite(options.precision + options.floor)) {
    throw Error(ErrorCode::usage,
                fmt::format("precision {} and floor {}; expected finite numbers, not negative",
                            options.precision, options.floor));
  }
  if (options.floor > 0 && options.precision == 0) {
    throw Error(ErrorCode::usage, "floor needs a precision: it says when to stop looking for it");
  }
  if (!options.schema.empty() && options.schema.size() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("the schema has {} features; the data has {} columns",
                                              options.schema.size(), inputs));
  }
  if (options.ball.kind == BallKind::listed && options.ball.directions.columns() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("directions have {} columns; the data has {}",
                                              options.ball.directions.columns(), inputs));
  }
  if (options.ball.blocks() && options.ball.image.values() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("ball {} moves the pixels of images; the data has {} columns "
                                              "that are no image",
                                              ball_name(options.ball), inputs));
  }
  if (options.ball.kind == BallKind::gaussian && options.ball.average == Average::solid) {
    throw Error(ErrorCode::usage, "ball gaussian has no solid average; take random-pairs");
  }
  if (options.explain > 0 && !Ball(options.ball, options.schema, 0).shape(inputs).one_feature) {
    throw Error(ErrorCode::usage,
                fmt::format("explain needs a ball that moves features one at a time: cross, simplex "
                            "or simplex+anti; not {}",
                            ball_name(options.ball)));
  }
}

std::string outcome_name(Outcome outcome) {
  static constexpr std::array names{"exact", "sampled", "floor", "sparse", "budget", "unmoved", "undefined"};
  return names[static_cast<std::size_t>(outcome)];
}

GammaOptions resolve(GammaOptions options, std::size_t inputs) {
  if (!options.paper) return options;
  options.precision = 0;
  options.sample = 0;
  options.ball.average = Average::surface;
  options.ball.count = 0;
  options.ball.kind = BallKind::simplex_pairs;
  if (inputs > kPaperWholeBall) {
    options.ball.kind = BallKind::one_hot;
    options.sample = static_cast<std::uint64_t>(std::llround(kPaperShare * 2 * static_cast<double>(inputs)));
  }
  return options;
}

std::uint64_t gamma_cost(const GammaOptions& asked, std::size_t inputs) {
  const GammaOptions options = resolve(asked, inputs);
  std::size_t moved = inputs;
  for (const Feature& feature : options.schema) moved -= feature.fixed ? 1 : 0;
  if (moved == 0) return 1;
  const BallShape shape = Ball(options.ball, options.schema, 0).shape(moved);
  return 1 + plan_visit(shape, options).limit * shape.points();
}

}  // namespace harmonia
