#include "harmonia/report/baseline_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "harmonia/measure/gamma.hpp"
#include "support/expect_error.hpp"
#include "support/functions.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A baseline of 300 rows in three regions, with all kinds of features.
BaselineRun some_run() {
  test::RowFunction model(3, [](const double* x) {
    return x[0] * x[0] * (x[1] > 0.5 ? 5 : 1) + (std::isnan(x[2]) ? 0 : std::sin(x[2]));
  });
  model.info().takes_missing = true;
  Matrix<double> rows(600, 3);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows.row(i)[0] = std::fmod(static_cast<double>(i) * 0.618, 1.0) / 3;
    rows.row(i)[1] = static_cast<double>(i % 2);
    rows.row(i)[2] = i % 5 == 0 ? kNan : std::fmod(static_cast<double>(i) * 0.414, 1.0);
  }
  BaselineRun run;
  run.record.model = model.info();
  run.record.model.sha256 = std::string(64, 'a');
  run.record.data.source = "rows";
  run.record.data.inputs = 3;
  run.record.scale = "std";
  run.record.model_output = "scores";
  run.record.margin = true;
  GammaOptions& options = run.record.options;
  options.ball = parse_ball("rotated:32");
  options.ball.radius = 0.1;
  options.ball.average = Average::solid;
  options.output = parse_output("column:0");
  options.sample = 24;
  options.confidence = 0.9;
  options.schema = plain_schema({"a", "b", "c"});
  options.schema[0].scale = 1.0 / 3;
  options.schema[0].lower = 0;
  options.schema[0].mirrored = true;
  options.schema[1].fixed = options.schema[2].integer = true;
  Run state;
  GammaResult measured = gamma(model, rows.view(), options, state);
  measured.rows[7].gamma.reset();
  measured.rows[9].id = "nine \"9\"";
  run.summary = measured.summary;
  run.baseline = make_baseline(rows.view(), measured.rows, {"a", "b", "c"}, options, 7, {});
  run.evaluations = state.ledger.spent();
  return run;
}

void expect_same(const GammaStatistics& a, const GammaStatistics& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.standard_error, b.standard_error);
  EXPECT_EQ(a.rms, b.rms);
  EXPECT_EQ(a.relative, b.relative);
}

TEST(BaselineFile, ReadsBackToTheLastBit) {
  const BaselineRun run = some_run();
  const Baseline& a = run.baseline;
  ASSERT_GT(a.partition.regions, 1U);
  const SavedBaseline saved = read_baseline({"base.json", baseline_json(run)});
  const Baseline& b = saved.baseline;
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.learning_rows, b.learning_rows);
  EXPECT_EQ(a.reference_rows, b.reference_rows);
  EXPECT_EQ(a.rows_without_value, b.rows_without_value);
  EXPECT_EQ(a.partition.regions, b.partition.regions);
  ASSERT_EQ(a.partition.nodes.size(), b.partition.nodes.size());
  for (std::size_t i = 0; i < a.partition.nodes.size(); ++i) {
    EXPECT_EQ(a.partition.nodes[i].feature, b.partition.nodes[i].feature);
    EXPECT_EQ(a.partition.nodes[i].threshold, b.partition.nodes[i].threshold);
    EXPECT_EQ(a.partition.nodes[i].low, b.partition.nodes[i].low);
    EXPECT_EQ(a.partition.nodes[i].high, b.partition.nodes[i].high);
  }
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.counts.gamma, b.counts.gamma);
  EXPECT_EQ(a.counts.gamma_sum, b.counts.gamma_sum);
  EXPECT_EQ(a.counts.features, b.counts.features);
  EXPECT_EQ(a.counts.classes, b.counts.classes);
  expect_same(a.gamma, b.gamma);
  ASSERT_EQ(a.regions.size(), b.regions.size());
  for (std::size_t r = 0; r < a.regions.size(); ++r) expect_same(a.regions[r], b.regions[r]);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].gamma, b.rows[i].gamma);
    EXPECT_EQ(a.rows[i].region, b.rows[i].region);
    EXPECT_EQ(a.rows[i].id, b.rows[i].id);
    for (std::size_t j = 0; j < 3; ++j) {
      const double x = a.rows[i].values[j], y = b.rows[i].values[j];
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y)));
    }
  }
  const GammaOptions &from = a.options, &to = b.options;
  EXPECT_EQ(ball_name(from.ball), ball_name(to.ball));
  EXPECT_EQ(from.ball.radius, to.ball.radius);
  EXPECT_EQ(to.ball.average, Average::solid);
  EXPECT_EQ(output_name(from.output), output_name(to.output));
  EXPECT_EQ(from.sample, to.sample);
  EXPECT_EQ(from.confidence, to.confidence);
  ASSERT_EQ(to.schema.size(), 3U);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(from.schema[j].scale, to.schema[j].scale);
    EXPECT_EQ(from.schema[j].lower, to.schema[j].lower);
    EXPECT_EQ(from.schema[j].upper, to.schema[j].upper);
    EXPECT_EQ(from.schema[j].integer, to.schema[j].integer);
    EXPECT_EQ(from.schema[j].fixed, to.schema[j].fixed);
    EXPECT_EQ(from.schema[j].mirrored, to.schema[j].mirrored);
  }
  EXPECT_EQ(saved.scale, "std");
  EXPECT_EQ(saved.model_output, "scores");
  EXPECT_TRUE(saved.margin);
  EXPECT_EQ(saved.sha256, std::string(64, 'a'));
}

TEST(BaselineFile, SaysWhenTheModelIsAnother) {
  SavedBaseline saved;
  saved.model = "a.onnx";
  saved.sha256 = "1";
  ModelInfo model;
  model.name = "b.onnx";
  model.sha256 = "1";
  EXPECT_FALSE(other_model(saved, model));
  model.sha256 = "2";
  EXPECT_EQ(other_model(saved, model), "the baseline was measured on a.onnx; b.onnx is compared with it");
  model.name = "a.onnx";
  EXPECT_EQ(other_model(saved, model),
            "the baseline was measured on a.onnx with other contents; a.onnx is compared with it");
  model.sha256.clear();
  EXPECT_FALSE(other_model(saved, model));
}

TEST(BaselineFile, DamagedFiles) {
  const Json good = Json::parse(baseline_json(some_run()));
  const auto refused = [&](const std::string& message, const std::function<void(Json&, Json&)>& damage) {
    Json bad = good;
    damage(bad, bad["summary"]["baseline"]);
    test::expect_error(ErrorCode::input, "base.json: " + message, [&] {
      read_baseline({"base.json", bad.dump()});
    });
  };
  refused("the baseline has no features; expected at least 1",
          [](Json&, Json& b) { b["features"] = Json::array(); });
  refused("the baseline's radius is 0; expected a number above 0",
          [](Json&, Json& b) { b["gamma"]["radius"] = 0; });
  refused("the baseline's output is all; no baseline has it",
          [](Json&, Json& b) { b["gamma"]["output"] = "all"; });
  refused("the baseline's confidence is 1; expected between 0 and 1",
          [](Json&, Json& b) { b["gamma"]["confidence"] = 1; });
  refused("the baseline has 2 features with a schema; expected 3",
          [](Json&, Json& b) { b["gamma"]["schema"].erase(0); });
  refused("the bounds of 'a' are 2 and 1; expected the lower one first", [](Json&, Json& b) {
    b["gamma"]["schema"][0]["lower"] = 2;
    b["gamma"]["schema"][0]["upper"] = 1;
  });
  refused("the baseline's paper is neither true nor false", [](Json&, Json& b) { b["gamma"]["paper"] = 1; });
  refused("the baseline's unit is 0.3; expected a power of two", [](Json&, Json& b) { b["unit"] = 0.3; });
  refused("node 0 asks about feature 3; there are 3",
          [](Json&, Json& b) { b["partition"][0]["feature"] = 3; });
  refused("node 0 leads back; expected nodes after it", [](Json&, Json& b) { b["partition"][0]["low"] = 0; });
  refused("the baseline's partition has node 2, twice", [](Json&, Json& b) { b["partition"][0]["low"] = 2; });
  refused("the baseline's partition is no tree", [](Json&, Json& b) { b["partition"] = Json::array(); });
  refused("the baseline has 2 lists of edges; expected 3", [](Json&, Json& b) { b["edges"].erase(1); });
  refused("the edges of 'b' do not ascend at -1", [](Json&, Json& b) { b["edges"][1] = {0, -1}; });
  refused("'b' has 2 bins; expected 5", [](Json&, Json& b) { b["counts"]["features"][1] = {0, 0}; });
  refused("bin 3841 is counted; expected at most 3840", [](Json&, Json& b) {
    b["counts"]["gamma"][0].push_back({3841, 1});
  });
  refused("counts of bin do not ascend at 0", [](Json&, Json& b) {
    b["counts"]["gamma"][0].push_back({0, 1});
  });
  refused("a bin has 18446744073709551615 rows; the reference has 419",
          [](Json&, Json& b) { b["counts"]["features"][0][0] = std::numeric_limits<std::uint64_t>::max(); });
  refused("class 1 is counted 0 times; expected at least once", [](Json&, Json& b) {
    b["counts"]["classes"] = {{1, 0}};
  });
  refused("class 1001 is counted; expected at most 1000", [](Json&, Json& b) {
    b["counts"]["classes"] = {{1001, 1}};
  });
  refused("row 2 has 2 values; expected 3", [](Json& f, Json&) { f["rows"][2]["values"].erase(0); });
  refused("row 1 has gamma -1; expected at least 0", [](Json& f, Json&) { f["rows"][1]["gamma"] = -1; });
  refused("row 0 is not in region 99", [](Json& f, Json&) { f["rows"][0]["region"] = 99; });
  refused("gamma of region 0 is of 1 row; expected " +
              std::to_string(good["summary"]["regions"][0]["rows"].get<int>()),
          [](Json& f, Json&) { f["summary"]["regions"][0]["rows"] = 1; });
  refused("summary.baseline.counts.gamma_sum[0] is the number -1; expected a whole number",
          [](Json&, Json& b) { b["counts"]["gamma_sum"][0] = -1; });
  for (const char* part : {"features", "seed", "partition", "edges", "unit", "counts", "gamma", "margin"}) {
    Json bad = good;
    bad["summary"]["baseline"].erase(part);
    test::expect_error(ErrorCode::input, std::string("base.json: summary.baseline has no '") + part + "'",
                       [&] {
                         read_baseline({"base.json", bad.dump()});
                       });
  }
  Json other = good;
  other["command"] = "gamma";
  test::expect_error(ErrorCode::input, "base.json is a result of 'gamma'; expected one of baseline", [&] {
    read_baseline({"base.json", other.dump()});
  });
}

}  // namespace
}  // namespace harmonia
