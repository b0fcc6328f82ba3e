#pragma once

#include <string>
#include <vector>

#include "harmonia/measure/sweep.hpp"
#include "harmonia/report/gamma_report.hpp"

namespace harmonia {

/// The result as JSON; the record's radius is not used. `warnings`: one sentence each.
std::string sweep_json(const GammaRunRecord& record, const SweepResult& result,
                       const std::vector<std::string>& warnings);
/// A line a radius.
std::string sweep_csv(const SweepResult& result);
/// The result as text for a person.
std::string sweep_table(const GammaRunRecord& record, const SweepResult& result);
/// One sentence: how gamma grows with the radius, and what that stands for.
std::string sweep_text(const SweepResult& result);

}  // namespace harmonia
