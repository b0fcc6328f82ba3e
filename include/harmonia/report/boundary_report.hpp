#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/boundary.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a result says besides its rows and summary: all that is needed to repeat it.
struct BoundaryRunRecord {
  ModelInfo model;
  DataInfo a, b;
  BoundaryOptions options;     ///< as asked
  std::string model_output;    ///< the model's output that was asked for; empty: its own choice
  bool margin = false;         ///< the value before the link was asked for
  std::string scale = "none";  ///< as asked
  bool points = false;         ///< crossings are written whatever their width
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The result as JSON. Points of more than 50 features are left out unless the record says otherwise.
std::string boundary_json(const BoundaryRunRecord& record, const BoundaryResult& result,
                          const std::vector<std::string>& warnings);
/// A line a crossing, or a pair that has none.
std::string boundary_csv(const BoundaryResult& result);
/// The result as text for a person.
std::string boundary_table(const BoundaryRunRecord& record, const BoundaryResult& result);
/// One sentence: how many pairs cross a boundary, and at which angle.
std::string boundary_text(const BoundarySummary& summary);
/// The normals as the bytes of an NPY file: a row a row of the result, NaN where it has none.
std::string normals_npy(const BoundaryResult& result, std::size_t inputs);

}  // namespace harmonia
