#pragma once

#include <fmt/format.h>

#include <stop_token>

#include "harmonia/core/error.hpp"
#include "harmonia/core/run.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace harmonia {

/// The run that the options ask for; who watches it is left open.
Run new_run(const SubjectOptions& subject, const RunOptions& run, const std::stop_token& stop);

/// What `measure` gives, under a progress bar. A run that is interrupted says how far it was, and that
/// nothing was written.
template <class Measure>
auto measured(const RunOptions& run, Run& state, const Measure& measure) {
  try {
    ProgressBar bar(!run.quiet, {});
    state.progress = [&bar](const Progress& progress) { bar.show(progress); };
    return measure();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::interrupted) throw;
    throw Error(ErrorCode::interrupted,
                fmt::format("stopped after {} evaluations; nothing was written", state.ledger.spent()));
  }
}

}  // namespace harmonia
