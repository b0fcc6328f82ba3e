#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// How a partition is made.
struct PartitionOptions {
  std::size_t regions = 16;     ///< at most
  std::size_t least_rows = 50;  ///< in a region
};

/// A few boxes of feature space, the leaves of a small tree, in each of which gamma is about alike.
struct Partition {
  /// A question about one feature, or a region.
  struct Node {
    std::int32_t feature = -1;        ///< -1: a region
    double threshold = 0;             ///< up to it, and where the feature is missing, rows go to `low`
    std::uint32_t low = 0, high = 0;  ///< nodes; of a region, `low` is its number
  };
  std::vector<Node> nodes;  ///< the first is the root; children come after their parent
  std::size_t regions = 1;

  /// The region of a row.
  std::size_t region_of(std::span<const double> x) const;
};

/// Splits the rows (rows × features) again and again where the ranks of gamma on both sides differ most
/// (least squares), the best split first, until there are regions enough or no split is more than chance
/// brings: rows whose gamma has nothing to do with where they are stay together with probability >= 0.99,
/// about. Same rows, same partition.
Partition make_partition(MatrixView<const double> rows, std::span<const double> gamma,
                         const PartitionOptions& options);

/// A region in words: "alcohol ≤ 12.8 and 1.9 < flavanoids ≤ 2.4", "ash missing"; "everywhere" for a single
/// one.
std::string region_text(const Partition& partition, std::size_t region,
                        const std::vector<std::string>& features);

}  // namespace harmonia
