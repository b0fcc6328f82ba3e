#pragma once

#include <optional>
#include <string>
#include <vector>

namespace harmonia {

/// A prompt with what its file says of it.
struct Prompt {
  std::string text;
  std::string id;                ///< empty: none
  std::string domain;            ///< empty: none
  std::optional<bool> correct;   ///< whether the model's answer is known to be right
  std::optional<double> rating;  ///< of the answer by people, larger is better
};

/// Columns, or keys of JSON lines, that a prompts file may have besides the prompt.
struct PromptColumns {
  std::string prompt = "prompt";
  std::string id = "id", domain = "domain";  ///< taken if they are there
  std::string labels;                        ///< correct (1, true, yes, correct) or not; empty: none
  std::string rating;                        ///< empty: none
};

/// Reads prompts: FILE.txt has one a line, empty lines left out; FILE.jsonl and FILE.csv have the column
/// `prompt`. Throws Error(input) with the line for what cannot be read, for a text that is not UTF-8, and
/// for a file without prompts.
std::vector<Prompt> read_prompts(const std::string& path, const PromptColumns& columns);

}  // namespace harmonia
