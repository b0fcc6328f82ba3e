#include "finished_rows.hpp"

#include <fmt/format.h>

#include <bit>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr const char* kEmptySegment = "(empty)";  // of rows that have no value where segments are taken from

// FNV-1a over the values' bits.
std::uint64_t fingerprint(std::span<const double> x) {
  std::uint64_t hash = 14695981039346656037U;
  for (const double value : x) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211U;
  return hash;
}

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
    const std::span<const double> x(block.values.row(i), block.values.columns());
    const std::uint64_t known_by = fingerprint(x);
    std::vector<GammaRow> entries = std::move(held.finished[i]);
    for (GammaRow& entry : entries) {
      entry.fingerprint = known_by;
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
