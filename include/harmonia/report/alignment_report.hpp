#pragma once

#include <cstdint>
#include <string>

#include "harmonia/data/manifold.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/alignment.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a result says besides its rows: all that is needed to repeat it.
struct AlignmentRunRecord {
  ModelInfo model;
  DataInfo data, plane;  ///< the rows that were measured, and those that the plane was fitted to
  AlignmentOptions options;
  ManifoldOptions manifold;
  double explained = 0;        ///< share of the variance that the components keep
  std::size_t plane_rows = 0;  ///< rows that the plane was fitted to
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The result as JSON.
std::string alignment_json(const AlignmentRunRecord& record, const AlignmentResult& result);
/// A line a row.
std::string alignment_csv(const AlignmentResult& result);
/// The result as text for a person.
std::string alignment_table(const AlignmentRunRecord& record, const AlignmentResult& result);
/// One sentence: the mean cosine, and what chance would give.
std::string alignment_text(const AlignmentResult& result);

}  // namespace harmonia
