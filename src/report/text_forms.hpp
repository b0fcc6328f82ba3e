#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/report/gamma_report.hpp"

/// How numbers and names are written in tables and CSV files.
namespace harmonia {

/// Four significant digits, "-" for none.
std::string number(const std::optional<double>& value);

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t value);

/// [low, high]; an end that is not known is "?".
std::string interval(const std::optional<double>& low, const std::optional<double>& high);

/// "DATA: 12 rows of 3 features", and which rows of it were taken.
std::string data_text(const DataInfo& data, std::size_t rows);

/// "12 exact, 3 budget": rows by how their numbers came about.
std::string outcomes_text(const GammaSummary& summary);

/// "12,345 evaluations in 0.1 s (1.2e5 a second)" and a line end.
std::string cost_text(std::uint64_t evaluations, double seconds);
/// A line that says which fast paths stood for evaluations, each once; nothing if none did.
std::string fast_paths_text(const std::vector<std::string>& paths);

/// The ball and what was taken of it; without a radius if there are several.
std::string what_was_done(const GammaRunRecord& record, bool with_radius = true);

/// What the interval of a mean over these rows is about, in a sentence without its full stop.
std::string interval_meaning(const DataInfo& data);

/// A field of a CSV file, in quotes where it needs them.
std::string csv_field(const std::string& text);

template <class T>
std::string csv_field(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace harmonia
