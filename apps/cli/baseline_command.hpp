#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia baseline` to the program; it runs when it was the command given.
void add_baseline_command(CLI::App& program, int argc, char** argv);

}  // namespace harmonia
