#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "harmonia/model/open_model.hpp"
#include "harmonia/report/map_report.hpp"

namespace harmonia {

/// An option that names a map: what says how gamma is measured cannot be given with it.
void exclude_measuring(CLI::Option& map);

/// Reads the map that a command is to go by, and takes from it what of the model is measured.
SavedMap read_asked_map(const std::string& file, ModelOptions& model);

/// Puts into a record that gamma is measured as it was for the map. `batch`: as asked.
void measure_as(const SavedMap& map, std::size_t batch, GammaRunRecord& record);

}  // namespace harmonia
