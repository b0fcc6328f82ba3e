#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"
#include "harmonia/measure/persistence_study.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// Rows of least persistence that a result names, of each gamma.
constexpr std::size_t kLeastPersistent = 10;

/// What a result says besides its rows: all that is needed to repeat it.
struct PersistenceRunRecord {
  ModelInfo model;
  DataInfo data;
  std::optional<DataInfo> against;  ///< the other rows
  std::optional<double> radius;     ///< of the ball whose gamma is compared
  std::size_t steps = 0;            ///< of a path between two rows; 0: the rows are no path
  PersistenceOptions options;
  std::optional<double> unit;  ///< the data's scale that the range of sigma was taken from; none if it was
                               ///< given
  std::string model_output;    ///< the model's output that was asked for; empty: its own choice
  bool margin = false;         ///< the value before the link was asked for
  std::string scale = "none";  ///< as asked
  std::uint64_t seed = 1;
  std::string command_line;  ///< secrets left out
  double seconds = 0;
};

/// The result as JSON, an entry of "rows" a row and gamma. `warnings`: one sentence each.
std::string persistence_json(const PersistenceRunRecord& record, const PersistenceResult& result,
                             const std::vector<std::string>& warnings);
/// A line a row and gamma.
std::string persistence_csv(const PersistenceRunRecord& record, const PersistenceResult& result);
/// The result as text for a person.
std::string persistence_table(const PersistenceRunRecord& record, const PersistenceResult& result);
/// What the rows come to, in a sentence a gamma without its full stop; "; " between them.
std::string persistence_text(const PersistenceRunRecord& record, const PersistenceResult& result);
/// What of a class's frequency the scan over sigma can miss; empty for the paper's bracketing.
std::string persistence_scan_text(const PersistenceOptions& options);
/// How well the rows are told from the others; empty if there are none.
std::string persistence_detector_text(const PersistenceRunRecord& record, const PersistenceResult& result);
/// Where the class changes along a path; empty if the rows are none.
std::string persistence_path_text(const PersistenceRunRecord& record, const PersistenceResult& result);

/// The entries of a gamma from the least persistent on, at most `most`; those that are kept throughout and
/// those without a value are left out.
std::vector<const PersistenceRow*> least_persistent(std::span<const PersistenceRow> rows, double gamma,
                                                    std::size_t most);

}  // namespace harmonia
