#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia card` to the program; it runs when it was the command given.
void add_card_command(CLI::App& program);

}  // namespace harmonia
