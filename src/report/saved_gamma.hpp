#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harmonia/measure/gamma.hpp"
#include "result_json.hpp"

/// How gamma was measured, in files that are read again to measure it so: maps and baselines.
namespace harmonia {

/// The ball, the sample and the features; output and confidence are left to the caller.
nlohmann::ordered_json saved_gamma_json(const GammaOptions& options, const std::string& scale);
/// Reads them. `owner` is what messages call the thing that was saved, such as "the map".
GammaOptions read_saved_gamma(const ResultFile& file, const ResultField& field, const std::string& owner);

/// A field that is above 0.
double positive_number(const ResultFile& file, const ResultField& field, const char* key,
                       const std::string& owner);
/// A field that is true or false.
bool read_flag(const ResultFile& file, const ResultField& field, const char* key, const std::string& owner);

}  // namespace harmonia
