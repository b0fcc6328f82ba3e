#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/measure/gamma_map.hpp"
#include "harmonia/measure/map_rows.hpp"
#include "harmonia/measure/map_table.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// A map with all that is needed to ask it about new rows.
struct SavedMap {
  GammaMap map;
  std::size_t steps = 25;      ///< N of the searches
  std::string search;          ///< in a sentence's words
  GammaOptions gamma;          ///< how gamma was measured
  std::string scale = "none";  ///< as asked
  bool probabilities = false;  ///< the outputs were probabilities
  bool margin = false;         ///< the value before the link was asked for
  std::string model_output;    ///< the model's output that was asked for; empty: its own choice
  std::string model, sha256;   ///< of the model it was fitted on; empty: there is no file
};

/// What a result says besides its rows: all that is needed to repeat it.
struct MapRunRecord {
  GammaRunRecord gamma;         ///< model, data, options, seed
  bool probabilities = false;   ///< the outputs are probabilities
  double step = 0;              ///< of a search, in units of the scales
  std::size_t candidates = 0;   ///< features that a search tries a step
  double lower = 0, upper = 0;  ///< that rows are kept between; infinite: not
  MapFitOptions fit;
};

/// Rows, their table, and the map.
struct MapResult {
  MapRows rows;
  MapTable table;
  MapFit fit;
  std::uint64_t evaluations = 0;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// The result as JSON, with the map in "summary".
std::string map_json(const MapRunRecord& record, const MapResult& result);
/// A line a row.
std::string map_csv(const MapResult& result);
/// The result as text for a person: Table 3, correlations, the map.
std::string map_report(const MapRunRecord& record, const MapResult& result);
/// One sentence: how many rows are stable, and how well the map tells.
std::string map_text(const MapResult& result);

/// The map of a result. Throws Error(input), in one line, if the file is no result of `harmonia map`, has no
/// map, or is damaged.
SavedMap read_map(const ResultFile& file);
/// The map of a run, as it is saved.
SavedMap saved_map(const MapRunRecord& record, const MapResult& result);
/// A sentence if the map was fitted on another model.
std::optional<std::string> other_model(const SavedMap& map, const ModelInfo& model);

/// New rows that a map was asked about; no search was made.
struct MapUse {
  MapRows rows;
  std::vector<std::optional<MapAnswer>> answers;  ///< a row each; none for rows without a gamma or a variable
  std::uint64_t evaluations = 0;
  std::vector<std::string> warnings;  ///< one sentence each
};

/// What the map answers for every row.
std::vector<std::optional<MapAnswer>> ask_map(const GammaMap& map, const MapRows& rows);
/// The answers as JSON, a line a row, and text for a person. `path`: the map's file.
std::string map_use_json(const MapRunRecord& record, const SavedMap& map, const std::string& path,
                         const MapUse& use);
std::string map_use_csv(const MapUse& use);
std::string map_use_report(const MapRunRecord& record, const SavedMap& map, const std::string& path,
                           const MapUse& use);

}  // namespace harmonia
