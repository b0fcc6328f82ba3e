// A map that does not fit a baseline is refused, in one line that says what to do.
#include "harmonia/report/monitor_map.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

struct Pair {
  SavedMap map;
  SavedBaseline baseline;

  Pair() {
    map.map.inputs = {"logit_p", "log_gamma"};
    map.gamma.ball.radius = 0.2;
    map.gamma.schema = plain_schema({"a", "b"});
    map.gamma.schema[0].scale = 3;
    baseline.baseline.features = {"a", "b"};
    baseline.baseline.options = map.gamma;
    baseline.scale = "none";
  }
  MonitorMap fit() const { return monitor_map(map, "map.json", baseline, "base.json"); }
};

TEST(MonitorMapFault, ABaselineThatIsMeasuredOtherwiseIsRefused) {
  using Change = std::function<void(Pair&)>;
  const std::pair<Change, const char*> cases[]{
      {[](Pair& p) { p.baseline.baseline.options.output = parse_output("norm"); },
       "is of output norm, the map of predicted"},
      {[](Pair& p) { p.map.probabilities = true; }, "is of plain outputs, the map log-probabilities"},
      {[](Pair& p) { p.baseline.margin = true; }, "is of the value before the link, the map after the link"},
      {[](Pair& p) { p.map.model_output = "logits"; }, "is of the model's output '', the map 'logits'"},
      {[](Pair& p) { p.baseline.baseline.options.ball.radius = 0.25; }, "has radius 0.25, the map 0.2"},
      {[](Pair& p) { p.map.gamma.ball.kind = BallKind::cross; }, "has ball simplex+anti, the map cross"},
      {[](Pair& p) { p.map.gamma.ball.average = Average::solid; }, "has average surface, the map solid"},
      {[](Pair& p) { p.map.gamma.sample = 16; }, "has sample 0, the map 16"},
      {[](Pair& p) { p.map.gamma.precision = 0.5; }, "has precision 0, the map 0.5"},
      {[](Pair& p) { p.baseline.baseline.options.confidence = 0.9; }, "has confidence 0.9, the map 0.95"},
      {[](Pair& p) { p.baseline.baseline.options.schema[1].fixed = true; },
       "has other scales or bounds of the features (--scale none) than the map (--scale none)"},
      {[](Pair& p) { p.baseline.baseline.options.schema.clear(); },
       "has other scales or bounds of the features (--scale none) than the map (--scale none)"},
  };
  for (const auto& [change, words] : cases) {
    Pair pair;
    change(pair);
    test::expect_error(ErrorCode::usage,
                       std::string("base.json ") + words +
                           "; expected a baseline that is measured as the map: harmonia baseline MODEL DATA "
                           "--map map.json",
                       [&] { pair.fit(); });
  }
}

TEST(MonitorMapFault, WhatDoesNotCountIsNotCompared) {
  Pair pair;
  pair.baseline.baseline.options.batch = 7;
  pair.baseline.baseline.options.schema[0].name = "first";
  EXPECT_TRUE(pair.fit().features.empty());
  pair.map.gamma.schema[0].scale = 1;
  pair.baseline.baseline.options.schema.clear();  // a plain schema is none
  EXPECT_TRUE(pair.fit().features.empty());
}

TEST(MonitorMapFault, FurtherVariablesHaveToBeFeatures) {
  Pair pair;
  pair.map.map.inputs = {"logit_p", "log_gamma", "b"};
  EXPECT_EQ(pair.fit().features, std::vector<std::size_t>{1});
  pair.map.map.inputs.emplace_back("age");
  test::expect_error(ErrorCode::usage,
                     "map.json takes 'age', which is no feature that the model of base.json reads; expected "
                     "a map without --with, or with features alone",
                     [&] { pair.fit(); });
}

}  // namespace
}  // namespace harmonia
