#include <fmt/format.h>

#include <algorithm>

#include "../monitor/monitor_json.hpp"
#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/baseline_file.hpp"
#include "saved_gamma.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

Json partition_json(const Partition& partition) {
  Json nodes = Json::array();
  for (const Partition::Node& node : partition.nodes) {
    nodes.push_back(node.feature < 0 ? Json{{"region", node.low}}
                                     : Json{{"feature", node.feature},
                                            {"threshold", node.threshold},
                                            {"low", node.low},
                                            {"high", node.high}});
  }
  return nodes;
}

Json saved_json(const BaselineRun& run) {
  const Baseline& baseline = run.baseline;
  Json measured = saved_gamma_json(baseline.options, run.record.scale);
  measured["output"] = output_name(baseline.options.output);
  measured["paper"] = baseline.options.paper;
  measured["confidence"] = baseline.options.confidence;
  return {{"features", baseline.features},
          {"seed", baseline.seed},
          {"learning_rows", baseline.learning_rows},
          {"reference_rows", baseline.reference_rows},
          {"rows_without_value", baseline.rows_without_value},
          {"partition", partition_json(baseline.partition)},
          {"edges", baseline.edges},
          {"unit", baseline.unit},
          {"counts", counts_json(baseline.counts)},
          {"gamma", std::move(measured)},
          {"margin", run.record.margin},
          {"takes_missing", run.record.model.takes_missing},
          {"log_probabilities", run.log_probabilities},
          {"model_output", run.record.model_output}};
}

Json regions_json(const Baseline& baseline) {
  Json list = Json::array();
  for (std::size_t r = 0; r < baseline.partition.regions; ++r) {
    Json entry{{"region", region_text(baseline.partition, r, baseline.features)}};
    entry.update(statistics_json(baseline.regions[r]));
    list.push_back(std::move(entry));
  }
  return list;
}

Json rows_json(const Baseline& baseline) {
  Json list = Json::array();
  for (const BaselineRow& row : baseline.rows) {
    Json entry{{"region", row.region}, {"gamma", row.gamma}, {"values", values_json(row.values)}};
    if (!row.id.empty()) entry["id"] = row.id;
    list.push_back(std::move(entry));
  }
  return list;
}

std::size_t all_rows(const Baseline& baseline) {
  return baseline.learning_rows + baseline.reference_rows + baseline.rows_without_value;
}

// "of 178 rows 53 taught the regions, 125 are the reference".
std::string rows_text(const Baseline& baseline) {
  std::string text =
      fmt::format("of {} {} taught the regions, {} are the reference", counted(all_rows(baseline), "row"),
                  grouped(baseline.learning_rows), grouped(baseline.reference_rows));
  if (baseline.rows_without_value > 0)
    text += fmt::format(", {} have no gamma", grouped(baseline.rows_without_value));
  return text;
}

}  // namespace

std::string baseline_json(const BaselineRun& run) {
  Json options = options_json(run.record);
  options.erase("explain");
  options["regions"] = run.options.partition.regions;
  options["least_rows"] = run.options.partition.least_rows;
  options["learning_share"] = run.options.learning_share;
  options["kept_rows"] = run.options.kept_rows;
  const Json frame{
      {"schema", "harmonia/1"},
      {"command", "baseline"},
      {"model", model_json(run.record.model, "path")},
      {"data", data_json(run.record.data, all_rows(run.baseline))},
      {"options", std::move(options)},
      {"command_line", run.record.command_line},
      {"rows", rows_json(run.baseline)},
      {"summary",
       {{"text", rows_text(run.baseline)},
        {"gamma", statistics_json(run.baseline.gamma)},
        {"regions", regions_json(run.baseline)},
        {"outcomes", outcomes_json(run.summary)},
        {"intervals", fmt::format("each interval holds for itself; {}", interval_meaning(run.record.data))},
        {"warnings", run.summary.warnings},
        {"baseline", saved_json(run)}}},
      {"evaluations", run.evaluations},
      {"seconds", run.record.seconds},
      {"version", HARMONIA_VERSION}};
  return dump(frame) + "\n";
}

std::string baseline_table(const BaselineRun& run) {
  const Baseline& baseline = run.baseline;
  std::string text = fmt::format("baseline of {} on {}\n{}; output {}; seed {}\n{}\n\n",
                                 printable(run.record.model.name, std::string::npos),
                                 data_text(run.record.data, all_rows(baseline)), what_was_done(run.record),
                                 output_name(baseline.options.output), baseline.seed, rows_text(baseline));
  text += fmt::format("  {:>8}  {:>12}  {:<26} where\n", "rows", "mean gamma",
                      fmt::format("{:g} % interval", 100 * baseline.options.confidence));
  const auto line = [&](const GammaStatistics& gamma, const std::string& where) {
    text += fmt::format("  {:>8}  {:>12}  {:<26} {}\n", grouped(gamma.rows), number(gamma.mean),
                        interval(gamma.low, gamma.high), where);
  };
  line(baseline.gamma, "all rows");
  for (std::size_t r = 0; baseline.partition.regions > 1 && r < baseline.partition.regions; ++r) {
    line(baseline.regions[r], region_text(baseline.partition, r, baseline.features));
  }
  return text + "\n" + cost_text(run.evaluations, run.record.seconds);
}

}  // namespace harmonia
