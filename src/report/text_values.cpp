#include "text_values.hpp"

namespace harmonia {

TextValues text_values(const TextRow& row, AngleConvention convention) {
  TextValues values;
  if (!row.gamma) return values;
  const TextGamma& found = *row.gamma;
  const auto written = [&](const std::optional<double>& angle) -> std::optional<double> {
    if (!angle) return {};
    return in_convention(*angle, convention);
  };
  values.gamma = written(found.gamma);
  values.plain = written(found.plain);
  values.floor = written(found.floor);
  values.excess = written(found.excess);
  values.resultant = found.resultant;
  if (found.interval) values.interval = in_convention(*found.interval, convention);
  values.paper = in_convention(found.plain, AngleConvention::paper);
  return values;
}

std::string text_outcome(const TextRow& row) {
  if (row.gamma) return "measured";
  if (row.outcome != ChatOutcome::answered) return chat_outcome_name(row.outcome);
  return row.embedded ? "unmeasured" : "unembedded";
}

PromptMean mean_of(const TextRecord& record, const TextModelRecord& model, PromptFamily family,
                   std::optional<double> TextValues::*value) {
  std::vector<double> values;
  for (const TextRow& row : model.result.rows) {
    if (row.family != family) continue;
    if (const std::optional<double> found = text_values(row, record.convention).*value)
      values.push_back(*found);
  }
  return prompt_mean(values, record.options.confidence);
}

}  // namespace harmonia
