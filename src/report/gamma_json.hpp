#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harmonia/report/gamma_report.hpp"

namespace harmonia {

/// JSON on one line; broken UTF-8 is replaced.
std::string dump(const nlohmann::ordered_json& json);
/// A number, or null where there is none: NaN, an infinity.
nlohmann::ordered_json or_null(double value);
template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}
/// What is known of a model.
nlohmann::ordered_json model_json(const ModelInfo& model, const char* name_key);
/// What is known of the data, of which `rows` were measured.
nlohmann::ordered_json data_json(const DataInfo& data, std::size_t rows);
/// gamma over rows.
nlohmann::ordered_json statistics_json(const GammaStatistics& statistics);
/// What was asked, as the result's "options".
nlohmann::ordered_json options_json(const GammaRunRecord& record);
/// Which of the data's rows were taken, as fields of the result's "options".
void add_selection(nlohmann::ordered_json& options, const DataInfo& data);
/// How features may be moved, as the "schema" of the result's "options".
nlohmann::ordered_json schema_json(const Schema& schema);
/// One entry of the result's "rows".
nlohmann::ordered_json row_json(const GammaRow& row, const GammaRunRecord& record);
/// Numbers as a list; null where missing.
nlohmann::ordered_json values_json(const std::vector<double>& x);
/// The result's "summary.worst".
nlohmann::ordered_json worst_json(const WorstRows& worst, const GammaRunRecord& record);
/// Rows by outcome, those that occur.
nlohmann::ordered_json outcomes_json(const GammaSummary& summary);
/// The result's "summary".
nlohmann::ordered_json summary_json(const GammaSummary& summary, const GammaRunRecord& record);

/// The result's "summary.images".
nlohmann::ordered_json shown_images_json(const std::vector<ShownImage>& images);

}  // namespace harmonia
