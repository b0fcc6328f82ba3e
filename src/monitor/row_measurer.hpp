#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/model.hpp"
#include "harmonia/monitor/baseline.hpp"
#include "harmonia/monitor/row_stability.hpp"

namespace harmonia {

/// gamma of a row of the stream, or why it has none.
struct MeasuredRow {
  GammaRow row;
  std::string reason;                                    ///< empty: it has one
  std::optional<RowStability> stability = std::nullopt;  ///< where there is a map
};

/// Measures rows of a stream as the baseline's were, whatever is in them.
class RowMeasurer {
 public:
  /// Keeps references to all of them. map: asked about every row, at no further call of the model; null:
  /// none.
  RowMeasurer(const Model& model, const Baseline& baseline, const MonitorMap* map, Run& run);

  /// One entry for each of the places in `rows`. What is drawn for a row depends on the partition and its
  /// number alone. A row that cannot be used, or that the model does not answer, is told from the others by
  /// halves; if the model does not answer a row of the baseline either, Error(model) is thrown.
  std::vector<MeasuredRow> measure(const RowBlock& rows, const std::vector<std::size_t>& places,
                                   const std::string& partition) const;

 private:
  void measure_part(const RowBlock& rows, std::span<const std::size_t> places, std::uint64_t seed,
                    std::vector<MeasuredRow>& out) const;
  std::vector<GammaRow> gamma_of(const RowBlock& rows, std::span<const std::size_t> places,
                                 std::uint64_t seed) const;
  bool model_answers() const;

  const Model& model_;
  const Baseline& baseline_;
  const MonitorMap* map_;
  GammaOptions options_;
  Run& run_;
};

/// The seed of all that is drawn for a partition's rows: what is drawn for those of the baseline and of other
/// partitions is independent of it.
std::uint64_t partition_seed(std::uint64_t seed, const std::string& partition);

}  // namespace harmonia
