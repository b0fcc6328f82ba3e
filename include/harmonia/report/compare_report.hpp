#pragma once

#include <string>
#include <vector>

#include "harmonia/measure/compare.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/report/gamma_report.hpp"

namespace harmonia {

/// What a comparison says besides its numbers. `asked.model` is not used.
struct CompareRecord {
  GammaRunRecord asked;
  std::vector<ModelInfo> models;
  std::vector<std::string> warnings;
};

/// The result as JSON.
std::string compare_json(const CompareRecord& record, const CompareResult& result);
/// A line a row, with a gamma column a model.
std::string compare_csv(const CompareRecord& record, const CompareResult& result);
/// The result as text for a person.
std::string compare_table(const CompareRecord& record, const CompareResult& result);
/// One sentence: which model is lower, and by how much.
std::string compare_text(const CompareRecord& record, const CompareResult& result);

}  // namespace harmonia
