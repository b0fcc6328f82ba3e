#include "harmonia/monitor/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "thresholds.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kParts = 64;  // of a feature, between which a split may be
constexpr double kChance = 0.01;    // that rows whose gamma is alike are split
// Below every number: the split between rows that lack the feature and those that have it.
constexpr double kMissing = std::numeric_limits<double>::lowest();

// A feature of all rows, in parts: 0 is missing, part k is above threshold k − 1 and up to threshold k.
struct PartedFeature {
  std::vector<double> thresholds;
  std::vector<std::uint8_t> parts;  // by row
};

PartedFeature parted(MatrixView<const double> rows, std::size_t feature) {
  std::vector<double> values(rows.rows);
  for (std::size_t i = 0; i < rows.rows; ++i) values[i] = rows.row(i)[feature];
  PartedFeature result;
  result.parts.resize(rows.rows);
  result.thresholds = {kMissing};
  const std::vector<double> cuts = equal_cuts(values, kParts);
  result.thresholds.insert(result.thresholds.end(), cuts.begin(), cuts.end());
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto above = std::lower_bound(cuts.begin(), cuts.end(), values[i]);
    result.parts[i] = std::isnan(values[i]) ? 0 : static_cast<std::uint8_t>(1 + (above - cuts.begin()));
  }
  return result;
}

// Twice the rank of every number, equals sharing theirs: whole, so that sums of them are exact.
std::vector<std::uint64_t> double_ranks(std::span<const double> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<std::uint64_t> ranks(values.size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && values[order[next]] == values[order[first]]) ++next;
    for (std::size_t i = first; i < next; ++i) ranks[order[i]] = first + next;
  }
  return ranks;
}

struct Split {
  double gain = 0;  // by how much the sum of squares falls
  std::size_t feature = 0;
  std::size_t part = 0;  // the last one on the low side
};

// A node that is not split yet.
struct Leaf {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> rows;
  std::optional<Split> split;
};

class Splitter {
 public:
  Splitter(MatrixView<const double> rows, std::span<const double> gamma, std::size_t least_rows)
      : ranks_(double_ranks(gamma)), least_rows_(std::max<std::size_t>(1, least_rows)) {
    for (std::size_t j = 0; j < rows.columns; ++j) features_.push_back(parted(rows, j));
  }

  // The best split of these rows, if there is one that is more than chance.
  std::optional<Split> best(const std::vector<std::uint32_t>& rows) const {
    if (rows.size() < 2 * least_rows_) return std::nullopt;
    const auto count = static_cast<double>(rows.size());
    double sum = 0, squares = 0;
    for (const std::uint32_t row : rows) sum += static_cast<double>(ranks_[row]);
    for (const std::uint32_t row : rows) {
      const double step = static_cast<double>(ranks_[row]) - sum / count;
      squares += step * step;
    }
    Split best;
    std::size_t candidates = 0;
    for (std::size_t j = 0; j < features_.size(); ++j) candidates += look(rows, j, best);
    if (candidates == 0) return std::nullopt;
    // Without a difference, gain over variance is about the square of a normal number.
    const double z = normal_quantile(1 - kChance / (2 * static_cast<double>(candidates)));
    if (!(best.gain > z * z * squares / (count - 1))) return std::nullopt;
    return best;
  }

  double threshold(const Split& split) const { return features_[split.feature].thresholds[split.part]; }
  bool is_low(std::uint32_t row, const Split& split) const {
    return features_[split.feature].parts[row] <= split.part;
  }

 private:
  // Looks at one feature's splits; returns how many there are.
  std::size_t look(const std::vector<std::uint32_t>& rows, std::size_t feature, Split& best) const {
    const PartedFeature& parted = features_[feature];
    std::vector<std::uint64_t> counts(parted.thresholds.size() + 1), sums(counts.size());
    for (const std::uint32_t row : rows) {
      ++counts[parted.parts[row]];
      sums[parted.parts[row]] += ranks_[row];
    }
    const auto sum = static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}));
    std::size_t candidates = 0;
    std::uint64_t low_count = 0, low_sum = 0;
    for (std::size_t part = 0; part < parted.thresholds.size(); ++part) {
      low_count += counts[part];
      low_sum += sums[part];
      if (counts[part] == 0 || low_count < least_rows_ || rows.size() - low_count < least_rows_) continue;
      ++candidates;
      const auto low = static_cast<double>(low_count), high = static_cast<double>(rows.size() - low_count);
      const auto first = static_cast<double>(low_sum);
      const double difference = first / low - (sum - first) / high;
      const double gain = difference * difference * low * high / (low + high);
      if (gain > best.gain) best = {gain, feature, part};
    }
    return candidates;
  }

  std::vector<PartedFeature> features_;
  std::vector<std::uint64_t> ranks_;
  std::size_t least_rows_;
};

// Numbers the regions from the low side to the high one.
void number_regions(Partition& partition) {
  std::vector<std::uint32_t> open{0};
  partition.regions = 0;
  while (!open.empty()) {
    Partition::Node& node = partition.nodes[open.back()];
    open.pop_back();
    if (node.feature < 0) {
      node.low = static_cast<std::uint32_t>(partition.regions++);
    } else {
      open.push_back(node.high);
      open.push_back(node.low);
    }
  }
}

// Where a region lies in one feature: above `low`, up to `high`.
struct Extent {
  std::int32_t feature = 0;
  std::optional<double> low, high;
};

std::string extent_text(const Extent& extent, const std::string& name) {
  if (extent.high == kMissing) return fmt::format("{} missing", name);
  const bool bounded = extent.low && *extent.low != kMissing;
  if (bounded && extent.high) return fmt::format("{} < {} ≤ {}", *extent.low, name, *extent.high);
  if (extent.high) return fmt::format("{} ≤ {}", name, *extent.high);
  return bounded ? fmt::format("{} > {}", name, *extent.low) : fmt::format("{} not missing", name);
}

}  // namespace

std::size_t Partition::region_of(std::span<const double> x) const {
  const Node* node = &nodes.front();
  while (node->feature >= 0) {
    node = &nodes[x[static_cast<std::size_t>(node->feature)] > node->threshold ? node->high : node->low];
  }
  return node->low;
}

Partition make_partition(MatrixView<const double> rows, std::span<const double> gamma,
                         const PartitionOptions& options) {
  assert(gamma.size() == rows.rows);
  const Splitter splitter(rows, gamma, options.least_rows);
  Partition partition{.nodes = {{}}, .regions = 1};
  std::vector<Leaf> leaves(1);
  leaves[0].rows.resize(rows.rows);
  std::iota(leaves[0].rows.begin(), leaves[0].rows.end(), 0U);
  leaves[0].split = splitter.best(leaves[0].rows);
  while (leaves.size() < options.regions) {
    const auto gain = [](const Leaf& leaf) { return leaf.split ? leaf.split->gain : 0; };
    const auto found = std::max_element(leaves.begin(), leaves.end(),
                                        [&](const Leaf& a, const Leaf& b) { return gain(a) < gain(b); });
    if (!found->split) break;
    const Split split = *found->split;
    const auto child = static_cast<std::uint32_t>(partition.nodes.size());
    partition.nodes[found->node] = {static_cast<std::int32_t>(split.feature), splitter.threshold(split),
                                    child, child + 1};
    partition.nodes.resize(partition.nodes.size() + 2);
    Leaf low{child, {}, {}}, high{child + 1, {}, {}};
    for (const std::uint32_t row : found->rows)
      (splitter.is_low(row, split) ? low : high).rows.push_back(row);
    low.split = splitter.best(low.rows);
    high.split = splitter.best(high.rows);
    *found = std::move(low);
    leaves.push_back(std::move(high));
  }
  number_regions(partition);
  return partition;
}

std::string region_text(const Partition& partition, std::size_t region,
                        const std::vector<std::string>& features) {
  std::vector<std::uint32_t> parents(partition.nodes.size());
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < partition.nodes.size(); ++i) {
    const Partition::Node& node = partition.nodes[i];
    if (node.feature >= 0) parents[node.low] = parents[node.high] = i;
    if (node.feature < 0 && node.low == region) at = i;
  }
  // From the region up to the root: what is met first is the tightest.
  std::vector<Extent> extents;
  for (; at != 0; at = parents[at]) {
    const Partition::Node& node = partition.nodes[parents[at]];
    auto extent = std::find_if(extents.begin(), extents.end(),
                               [&](const Extent& s) { return s.feature == node.feature; });
    if (extent == extents.end()) extent = extents.insert(extents.end(), Extent{node.feature, {}, {}});
    std::optional<double>& end = at == node.low ? extent->high : extent->low;
    if (!end) end = node.threshold;
  }
  if (extents.empty()) return "everywhere";
  std::string text;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    const std::string name = printable(features.at(static_cast<std::size_t>(extent->feature)));
    text += (text.empty() ? "" : " and ") + extent_text(*extent, name);
  }
  return text;
}

}  // namespace harmonia
