#pragma once

#include <string>

#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// The section of a model card that a result of `gamma`, `compare` or `sweep` makes, in Markdown: the numbers
/// with their intervals, how to repeat them, and what they do not mean. Throws Error(input) for what is no
/// such result.
std::string card_markdown(const ResultFile& file);

/// The same as JSON, described by docs/card.schema.json.
std::string card_json(const ResultFile& file);

}  // namespace harmonia
