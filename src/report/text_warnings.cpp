#include <fmt/format.h>

#include "harmonia/core/text.hpp"
#include "harmonia/report/text_report.hpp"

namespace harmonia {

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
    if (cancelled > 0) {
      warnings.push_back(fmt::format(
          "{}: answers of {} point apart (resultant below {:g}): the angle to their mean says little", name,
          counted(cancelled, "row"), kShortResultant));
    }
  }
  return warnings;
}

}  // namespace harmonia
