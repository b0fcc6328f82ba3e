#include "whole_result.hpp"

namespace harmonia {

WholeResult::WholeResult(const RunOptions& run) {
  if (!run.json.empty()) json_ = std::make_unique<AtomicFile>(run.json);
  if (!run.csv.empty()) csv_ = std::make_unique<AtomicFile>(run.csv);
}

}  // namespace harmonia
