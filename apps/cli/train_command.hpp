#pragma once

#include <CLI/CLI.hpp>

namespace harmonia {

/// Adds `harmonia train` to the program; it runs when it was the command given.
void add_train_command(CLI::App& program);

}  // namespace harmonia
