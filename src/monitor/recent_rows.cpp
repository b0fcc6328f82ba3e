#include "recent_rows.hpp"

#include <algorithm>

namespace harmonia {
namespace {

constexpr std::size_t kMostKept = 5000;
constexpr std::size_t kFewestKept = 500;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of their values

}  // namespace

RecentRows::RecentRows(const Baseline& baseline)
    : baseline_(baseline),
      most_(std::clamp(kMostBytes / (sizeof(double) * std::max<std::size_t>(1, baseline.features.size())),
                       kFewestKept, kMostKept)) {}

void RecentRows::add(KeptRow row) {
  next_ = row.number + 1;
  rows_.push_back(std::move(row));
  if (rows_.size() > most_) rows_.pop_front();
}

RowCounts RecentRows::counts_from(std::uint64_t number) const {
  RowCounts counts = no_counts(baseline_);
  for (auto row = rows_.rbegin(); row != rows_.rend() && row->number >= number; ++row) {
    GammaRow measured;
    measured.gamma = row->gamma;
    measured.decided_class = row->decided_class;
    count_row(baseline_, row->values, measured, counts);
  }
  return counts;
}

std::vector<KeptRow> RecentRows::worst(std::uint64_t from, const std::vector<std::size_t>& regions,
                                       std::size_t count, bool largest) const {
  std::vector<const KeptRow*> found;
  for (const KeptRow& row : rows_) {
    if (row.number < from) continue;
    if (regions.empty() || std::ranges::find(regions, row.region) != regions.end()) found.push_back(&row);
  }
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, found.size()));
  // Of equal ones, the first that came.
  std::ranges::partial_sort(found, found.begin() + kept, [&](const KeptRow* a, const KeptRow* b) {
    if (a->gamma == b->gamma) return a->number < b->number;
    return largest ? a->gamma > b->gamma : a->gamma < b->gamma;
  });
  std::vector<KeptRow> rows;
  for (std::ptrdiff_t i = 0; i < kept; ++i) rows.push_back(*found[static_cast<std::size_t>(i)]);
  return rows;
}

}  // namespace harmonia
