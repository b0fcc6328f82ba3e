#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace harmonia {

/// Where a key is read from; it is never an argument, which other users of the machine see.
struct KeyFlags {
  std::string option;          ///< the options begin with it, as in --key: --key-env and --key-file
  std::string variable, file;  ///< of the environment; both empty: no key
};

/// Adds the two options. words: of the variable.
void add_key_flags(CLI::App& command, KeyFlags& flags, const std::string& words, const std::string& group);

/// The key without blanks around it; empty if none was asked for. Throws Error(usage) for one that is not
/// there, empty, or not one line.
std::string read_key(const KeyFlags& flags);

}  // namespace harmonia
