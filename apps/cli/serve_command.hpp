#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia serve`.
void add_serve_command(CLI::App& program);

}  // namespace harmonia
