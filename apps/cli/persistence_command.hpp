#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia persistence` to the program; it runs when it was the command given.
void add_persistence_command(CLI::App& program, int argc, char** argv);

}  // namespace harmonia
