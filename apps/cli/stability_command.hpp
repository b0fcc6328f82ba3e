#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia stability` to the program; it runs when it was the command given.
void add_stability_command(CLI::App& program, int argc, char** argv);

}  // namespace harmonia
