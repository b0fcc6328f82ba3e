#pragma once

#include <cstdint>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_walk.hpp"

namespace harmonia {

/// Turns rows of data into what an ensemble's splits compare, in the blocks that a kernel walks.
class TreeRowsMaker {
 public:
  /// `used`: the inputs that splits compare.
  TreeRowsMaker(const TreeEnsemble& ensemble, const std::vector<std::uint32_t>& used,
                const TreeKernel& kernel);

  /// Memory for the rows that are made; one a call of evaluate().
  struct Buffer {
    std::vector<float> blocks, seen;
    MatrixView<const double> exact;
    const TreeRowsMaker* maker = nullptr;
  };

  /// Rows first … first + count − 1 of x. Good until the buffer is used again.
  TreeRows make(const RowsView& x, std::size_t first, std::size_t count, Buffer& buffer) const;

 private:
  template <class T>
  void look(const MatrixView<const T>& x, std::vector<float>& out) const;

  std::vector<TreeInput> inputs_;
  std::vector<CategorySet> sets_;
  const TreeKernel& kernel_;
  std::vector<std::uint32_t> columns_, in_order_;
  bool plain_ = true;  // every input is a column as it is
};

}  // namespace harmonia
