#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia gate` to the program; it runs when it was the command given, and sets `exit_code` to 0 if
/// the result passes, 1 if it fails, 4 if it is inconclusive.
void add_gate_command(CLI::App& program, int& exit_code);

}  // namespace harmonia
