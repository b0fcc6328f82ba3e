#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "harmonia/ball/noise.hpp"
#include "options.hpp"

namespace harmonia {

/// Options of the noise around rows; every command that asks for classes around them has them.
struct NoiseFlags {
  std::string noise = "gaussian", directions;
  double confidence = 0.95;
  std::size_t batch = 0;
};

/// Adds --noise, --directions, --confidence and --batch.
void add_noise_flags(CLI::App& command, NoiseFlags& flags);

/// What the flags say, with the subject's schema. Reads the file of directions. Throws Error(usage) if its
/// rows are not as wide as the data.
NoiseOptions asked_noise(const NoiseFlags& flags, const Subject& subject);

}  // namespace harmonia
