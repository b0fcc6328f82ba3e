#pragma once

#include "harmonia/core/run.hpp"

namespace harmonia {

/// One of several measurements that a run is made of: its share of the evaluations that are left, the same
/// seed, and progress over all of them. What it spends is entered in the whole run's ledger at its end.
class SharedRun {
 public:
  SharedRun(Run& whole, std::size_t part, std::size_t parts)
      : whole_(whole),
        part_{.seed = whole.seed,
              .threads = whole.threads,
              .ledger =
                  Ledger(whole.ledger.left() == Ledger::kUnlimited ? Ledger::kUnlimited
                                                                   : whole.ledger.left() / (parts - part)),
              .progress = {},
              .stop = whole.stop} {
    if (!whole.progress) return;
    part_.progress = [this, part, parts](const Progress& now) {
      Progress all = now;
      if (now.rows) {
        all.rows = *now.rows * parts;
        all.rows_done += *now.rows * part;
      }
      all.evaluations += whole_.ledger.spent();
      whole_.progress(all);
    };
  }
  ~SharedRun() { whole_.ledger.spend(part_.ledger.spent()); }
  SharedRun(const SharedRun&) = delete;
  SharedRun& operator=(const SharedRun&) = delete;

  Run& run() { return part_; }

 private:
  Run& whole_;
  Run part_;
};

}  // namespace harmonia
