#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia alignment`.
void add_alignment_command(CLI::App& program, int argc, char** argv);

}  // namespace harmonia
