#include <fmt/format.h>

#include "harmonia/core/text.hpp"
#include "harmonia/report/text_report.hpp"

namespace harmonia {
namespace {

// Prompts with a label and a value in the first family, whose answers are wrong and right.
std::pair<std::size_t, std::size_t> labelled(const TextRecord& record, const TextModelRecord& model) {
  std::size_t wrong = 0, right = 0;
  for (const TextRow& row : model.result.rows) {
    const std::optional<bool> correct = record.prompts[row.prompt].correct;
    if (row.family == record.options.families.front() && row.gamma && correct) ++(*correct ? right : wrong);
  }
  return {wrong, right};
}

}  // namespace

std::vector<std::string> text_warnings(const TextRecord& record) {
  std::vector<std::string> warnings;
  for (const TextModelRecord& model : record.models) {
    std::size_t without = 0, cancelled = 0, refused = 0, failed = 0, unasked = 0;
    std::string reason;
    for (const TextRow& row : model.result.rows) {
      without += row.gamma ? 0 : 1;
      cancelled += row.gamma && row.gamma->resultant < kShortResultant ? 1 : 0;
      refused += row.refused;
      failed += row.gamma ? row.failed : 0;
      unasked += row.outcome == ChatOutcome::unasked ? 1 : 0;
      if (!row.gamma && row.outcome != ChatOutcome::unasked && reason.empty()) reason = row.reason;
    }
    const std::string name = printable(model.result.model);
    if (unasked > 0)
      warnings.push_back(fmt::format("{}: {} not asked: a cap on calls or tokens was reached", name,
                                     counted(unasked, "row")));
    if (without > unasked)
      warnings.push_back(fmt::format("{}: {} without a value; the first: {}", name,
                                     counted(without - unasked, "row"), sentence(reason)));
    if (refused > 0)
      warnings.push_back(fmt::format("{}: the endpoint refused {}", name, counted(refused, "variant")));
    if (failed > 0) {
      warnings.push_back(
          fmt::format("{}: {} had no answer, or none with an embedding: their rows rest on the others", name,
                      counted(failed, "variant")));
    }
    if (model.result.cut > 0) {
      warnings.push_back(fmt::format(
          "{}: {} longer than the embedder reads: their ends make no difference", name,
          model.result.cut == 1 ? "1 answer is" : fmt::format("{} answers are", model.result.cut)));
    }
    if (const auto [wrong, right] = labelled(record, model); model.scores.empty() && wrong + right > 0) {
      warnings.push_back(
          fmt::format("{}: no score against the labels: {} wrong and {} right answers have a value; expected "
                      "at least one of each",
                      name, wrong, right));
    }
    if (cancelled > 0) {
      warnings.push_back(fmt::format(
          "{}: answers of {} point apart (resultant below {:g}): the angle to their mean says little", name,
          counted(cancelled, "row"), kShortResultant));
    }
  }
  return warnings;
}

}  // namespace harmonia
