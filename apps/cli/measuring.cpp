#include "measuring.hpp"

namespace harmonia {

Run new_run(const SubjectOptions& subject, const RunOptions& run, const std::stop_token& stop) {
  return {.seed = subject.seed,
          .threads = run.threads,
          .ledger = Ledger(run.max_evaluations > 0 ? run.max_evaluations : Ledger::kUnlimited),
          .progress = {},
          .stop = stop};
}

}  // namespace harmonia
