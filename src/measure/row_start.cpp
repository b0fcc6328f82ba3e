#include "row_start.hpp"

#include <fmt/format.h>

#include <utility>

#include "missing.hpp"

namespace harmonia {

RowStart RowStarter::start(std::span<const double> x, std::uint64_t number) {
  RowStart row{RowBall(ball_, x, number), {}};
  if (row.ball.moved() < x.size()) check_missing(model_, x, number);
  if (row.ball.moved() > 0) row.plan = plan_visit(row.ball.shape(), options_);
  look_at(row);
  return row;
}

// A boundary between two points of a grid is seen by both or by neither, all along it.
void RowStarter::look_at(const DataInfo& data) {
  if (data.jittered) return;
  for (std::size_t j = 0; j < data.spacing.size(); ++j) {
    const double scale = options_.schema.empty() ? 1 : options_.schema[j].scale;
    if (data.spacing[j] <= options_.ball.radius * scale / 2) continue;
    say(fmt::format(
        "the grid's spacing {:.4g} along {} is above half the radius {:.4g}: a boundary along it is "
        "missed or counted too often (aliasing); a finer grid, or --jitter",
        data.spacing[j], feature_name(data, j), options_.ball.radius * scale));
    return;
  }
}

void RowStarter::look_at(const RowStart& row) {
  if (row.ball.below_resolution(model_.scalar)) {
    say(fmt::format(
        "radius {} is under the resolution of the inputs in {}: points of the ball cannot be told "
        "from its centre",
        options_.ball.radius, model_.scalar == Scalar::float32 ? "float32" : "float64"));
  }
  if (!row.ball.shape().paired && row.plan.shuffled) {
    say("an unpaired sample of the ball measures the gradient more than gamma; take a paired ball, such as "
        "cross");
  }
}

void RowStarter::say(std::string sentence) {
  const std::lock_guard lock(mutex_);
  said_.insert(std::move(sentence));
}

}  // namespace harmonia
