#pragma once

#include <optional>
#include <string>

#include "harmonia/report/text_report.hpp"

namespace harmonia {

/// What a row of a study of texts has measured, in one convention; none where there is no value.
struct TextValues {
  std::optional<double> gamma, plain, floor, excess, resultant;
  std::optional<Interval> interval;
  std::optional<double> paper;  ///< the plain value in the convention `paper`, which bands are judged on
};

/// The row's values in the convention.
TextValues text_values(const TextRow& row, AngleConvention convention);

/// "measured", "unmeasured" (too few variants' answers could be used), "unembedded" (its own answer has no
/// embedding), or what became of the prompt's own question.
std::string text_outcome(const TextRow& row);

/// The mean of a value over the prompts of a model and family, in the record's convention.
PromptMean mean_of(const TextRecord& record, const TextModelRecord& model, PromptFamily family,
                   std::optional<double> TextValues::*value);

}  // namespace harmonia
