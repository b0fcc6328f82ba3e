#pragma once

#include <cstddef>
#include <vector>

#include "harmonia/monitor/row_stream.hpp"
#include "row_measurer.hpp"

namespace harmonia {

/// A batch with gamma of those of its rows that were chosen.
class MeasuredBatch {
 public:
  StreamBatch batch;
  std::vector<std::size_t> places, left_out;  ///< of its rows: measured, and left out by sampling
  std::vector<MeasuredRow> rows;              ///< one a place
};

}  // namespace harmonia
