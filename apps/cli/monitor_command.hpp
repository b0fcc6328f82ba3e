#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia monitor`.
void add_monitor_command(CLI::App& program);

}  // namespace harmonia
