#pragma once

#include <functional>
#include <span>

#include "gamma_summary.hpp"
#include "held_blocks.hpp"
#include "kept_values.hpp"

namespace harmonia {

/// Where rows go when they are done, in the data's order: to the sink, and into the summary.
class FinishedRows {
 public:
  FinishedRows(const GammaOptions& options, const ModelInfo& model,
               const std::function<void(const GammaRow&)>& sink)
      : sink_(sink), summariser_(options, model) {}

  /// Counts a row of an earlier run, which must have been of the same values.
  void count(std::span<const GammaRow> entries, std::span<const double> x);
  /// Passes on what is finished of a block; whether these were its last rows.
  bool pass_on(HeldBlock& held);

  std::size_t rows() const { return rows_; }
  GammaSummary summary() const { return summariser_.summary(); }

 private:
  const std::function<void(const GammaRow&)>& sink_;
  GammaSummariser summariser_;
  KeptValues kept_;
  std::size_t rows_ = 0;
};

}  // namespace harmonia
