#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a result says besides its rows: all that is needed to repeat it.
struct StabilityRunRecord {
  ModelInfo model;
  DataInfo data;
  StabilityOptions options;
  std::string model_output;           ///< the model's output that was asked for; empty: its own choice
  bool margin = false;                ///< the value before the link was asked for
  std::string scale = "none";         ///< as asked
  std::size_t height = 0, width = 0;  ///< of rows that are grey pictures; 0: they are none
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The result as JSON, an entry of "rows" a row and sigma. `warnings`: one sentence each.
std::string stability_json(const StabilityRunRecord& record, const StabilityResult& result,
                           const std::vector<std::string>& warnings);
/// A line a row and sigma.
std::string stability_csv(const StabilityRunRecord& record, const StabilityResult& result);
/// The result as text for a person.
std::string stability_table(const StabilityRunRecord& record, const StabilityResult& result);
/// One sentence: what takes over, or how many rows are stable.
std::string stability_text(const StabilityRunRecord& record, const StabilityResult& result);

/// "a question with gamma 0.7 and margin 0.01 takes from 5 to 17,000 samples a row"
std::string stability_looks_text(const StabilityOptions& options, const StabilityLooks& looks);

}  // namespace harmonia
