#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia project` to the program; it runs when it was the command given.
void add_project_command(CLI::App& program);

}  // namespace harmonia
