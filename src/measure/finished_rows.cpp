#include "finished_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fingerprint.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr const char* kEmptySegment = "(empty)";  // of rows that have no value where segments are taken from
constexpr std::size_t kTogether = 4;              // rows whose fingerprints cost little more than that of one

}  // namespace

void FinishedRows::count(std::span<const GammaRow> entries, std::span<const double> x) {
  if (fingerprint(x) != entries.front().fingerprint) {
    throw Error(ErrorCode::input, fmt::format("row {} is not what it was when the run stopped; start anew",
                                              entries.front().row));
  }
  for (const GammaRow& entry : entries) kept_.count(entry);
  summariser_.add({entries.begin(), entries.end()});
  ++rows_;
}

bool FinishedRows::pass_on(HeldBlock& held) {
  const RowBlock& block = held.block;
  for (; held.emitted < held.rows() && !held.finished[held.emitted].empty(); ++held.emitted, ++rows_) {
    const std::size_t i = held.emitted;
    const std::span<const double> x = held.row(i);
    if (held.fingerprints[i] == 0) held.make_fingerprints(i, std::min(kTogether, held.rows() - i));
    std::vector<GammaRow> entries = std::move(held.finished[i]);
    for (GammaRow& entry : entries) {
      entry.fingerprint = held.fingerprints[i];
      if (!block.ids.empty()) entry.id = block.ids[i];
      if (!block.labels.empty()) entry.label = block.labels[i];
      if (!block.segments.empty()) {
        const std::string& segment = block.segments[i];
        entry.segment = trim(segment).empty() ? kEmptySegment : segment;
      }
      kept_.add(entry, x);
      sink_(entry);
    }
    summariser_.add(entries);
  }
  return held.emitted == held.rows();
}

}  // namespace harmonia
