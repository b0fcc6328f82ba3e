#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/search/attack_study.hpp"

namespace harmonia {

/// What a result says besides its rows: all that is needed to repeat it.
struct AttackRunRecord {
  ModelInfo model;
  DataInfo data;
  AttackOptions options;
  std::optional<AttackMethod> against;
  double confidence = 0.95;
  std::string model_output;    ///< the model's output that was asked for; empty: its own choice
  bool margin = false;         ///< the value before the link was asked for
  std::string scale = "none";  ///< as asked
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The result as JSON, an entry of "rows" a row and method. `warnings`: one sentence each.
std::string attack_json(const AttackRunRecord& record, const AttackStudy& study,
                        const std::vector<std::string>& warnings);
/// A line a row and method.
std::string attack_csv(const AttackStudy& study);
/// The result as text for a person.
std::string attack_table(const AttackRunRecord& record, const AttackStudy& study);
/// One sentence: how many rows changed their class, and how the methods differ.
std::string attack_text(const AttackRunRecord& record, const AttackStudy& study);

}  // namespace harmonia
