#include "monitor_json.hpp"

#include <cmath>
#include <limits>

namespace harmonia {

using Json = nlohmann::json;

std::string monitor_dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json bins_json(const BinCounts& counts) {
  Json list = Json::array();
  for (const auto& [bin, times] : counts) list.push_back({bin, times});
  return list;
}

BinCounts read_bins(const Json& json) {
  BinCounts counts;
  for (const Json& entry : json) counts[entry.at(0).get<std::uint32_t>()] += entry.at(1).get<std::uint64_t>();
  return counts;
}

Json counts_json(const RowCounts& counts) {
  Json gamma = Json::array();
  for (const BinCounts& region : counts.gamma) gamma.push_back(bins_json(region));
  return {{"gamma", std::move(gamma)},
          {"gamma_sum", counts.gamma_sum},
          {"features", counts.features},
          {"classes", bins_json(counts.classes)}};
}

RowCounts read_counts(const Json& json, const Baseline& baseline) {
  RowCounts counts = no_counts(baseline);
  for (std::size_t i = 0; i < counts.gamma.size(); ++i) {
    counts.gamma[i] = read_bins(json.at("gamma").at(i));
    json.at("gamma_sum").at(i).get_to(counts.gamma_sum[i]);
  }
  for (std::size_t j = 0; j < counts.features.size(); ++j) {
    for (std::size_t k = 0; k < counts.features[j].size(); ++k)
      json.at("features").at(j).at(k).get_to(counts.features[j][k]);
  }
  counts.classes = read_bins(json.at("classes"));
  return counts;
}

Json stability_counts_json(const StabilityCounts& counts) {
  return {{"rows", counts.rows},
          {"outside", counts.outside},
          {"sum", counts.sum},
          {"squares", counts.squares},
          {"bins", counts.bins}};
}

StabilityCounts read_stability_counts(const Json& json) {
  StabilityCounts counts;
  json.at("rows").get_to(counts.rows);
  json.at("outside").get_to(counts.outside);
  json.at("sum").get_to(counts.sum);
  json.at("squares").get_to(counts.squares);
  json.at("bins").get_to(counts.bins);
  return counts;
}

Json status_json(const MonitorStatus& status) {
  return {{"rows", status.rows},
          {"measured", status.measured},
          {"left_out", status.left_out},
          {"without_value", status.without_value},
          {"refused", status.refused},
          {"repeated_batches", status.repeated_batches},
          {"evaluations", status.evaluations},
          {"share", status.share},
          {"last_row", status.last_row},
          {"last_refused", status.last_refused},
          {"p_values", status.p_values}};
}

void read_status(const Json& json, MonitorStatus& status) {
  json.at("rows").get_to(status.rows);
  json.at("measured").get_to(status.measured);
  json.at("left_out").get_to(status.left_out);
  json.at("without_value").get_to(status.without_value);
  json.at("refused").get_to(status.refused);
  json.at("repeated_batches").get_to(status.repeated_batches);
  json.at("evaluations").get_to(status.evaluations);
  json.at("share").get_to(status.share);
  json.at("last_row").get_to(status.last_row);
  json.at("last_refused").get_to(status.last_refused);
  json.at("p_values").get_to(status.p_values);
}

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

std::optional<double> read_number_or_null(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json values_or_null(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_or_null(value));
  return list;
}

std::vector<double> read_values_or_null(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json)
    values.push_back(read_number_or_null(value).value_or(std::numeric_limits<double>::quiet_NaN()));
  return values;
}

}  // namespace harmonia
