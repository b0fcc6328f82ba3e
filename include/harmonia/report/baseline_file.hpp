#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harmonia/monitor/baseline.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// What `harmonia baseline` did.
struct BaselineRun {
  GammaRunRecord record;
  BaselineOptions options;
  GammaSummary summary;  ///< of all rows, those that the regions were learned from too
  Baseline baseline;
  std::uint64_t evaluations = 0;
  bool log_probabilities = false;  ///< of the outputs, which are probabilities, the logarithms were measured
};

/// A baseline as it is kept in a file, with what is needed to measure gamma in the same way.
struct SavedBaseline {
  Baseline baseline;
  std::string scale;               ///< as asked
  std::string model_output;        ///< the model's output that was asked for; empty: its own choice
  bool margin = false;             ///< the value before the link was measured
  bool takes_missing = false;      ///< the model answers rows with missing values
  bool binary = false;             ///< the model's single output is the probability of class 1
  bool log_probabilities = false;  ///< make_logit_model() of the model's probabilities was measured
  std::string model;               ///< its name …
  std::string sha256;              ///< … and what its file held; empty: it is none
};

/// The file, a result of the command "baseline". What read_baseline() makes of it is the same to the last
/// bit.
std::string baseline_json(const BaselineRun& run);
/// Throws Error(input), in one line, for what is no such file, or holds what cannot be.
SavedBaseline read_baseline(const ResultFile& file);

/// For a person: gamma overall and in every region.
std::string baseline_table(const BaselineRun& run);

/// A sentence if the model is not the one that the baseline was measured on.
std::optional<std::string> other_model(const SavedBaseline& baseline, const ModelInfo& model);

}  // namespace harmonia
