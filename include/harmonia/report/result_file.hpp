#pragma once

#include <string>
#include <vector>

namespace harmonia {

/// A result (docs/result.schema.json) as text, not yet looked into.
struct ResultFile {
  std::string name;  ///< how messages call it: its path
  std::string text;  ///< the JSON
};

/// Reads a file. Throws Error(input) if it cannot be read, is empty, or is no result by its first byte.
ResultFile read_result_file(const std::string& path);

/// The command that made a result. Throws Error(input), in one line, if the text is no JSON, not whole, of
/// another schema, or of a command that is none of `commands` (empty: any will do).
std::string result_command(const ResultFile& file, const std::vector<std::string>& commands = {});

}  // namespace harmonia
