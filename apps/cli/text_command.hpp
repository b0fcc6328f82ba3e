#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia text`.
void add_text_command(CLI::App& program, int argc, char** argv);

}  // namespace harmonia
