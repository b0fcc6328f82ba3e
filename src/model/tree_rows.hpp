#pragma once

#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_walk.hpp"

namespace harmonia {

/// Turns rows of data into what an ensemble's splits compare.
class TreeRowsMaker {
 public:
  explicit TreeRowsMaker(const TreeEnsemble& ensemble);

  /// Memory for the rows that are made; one a call of evaluate().
  struct Buffer {
    std::vector<float> rounded;
    std::vector<double> exact;
  };

  /// Rows first … first + count − 1 of x. They lie in x itself where nothing has to be made of them.
  TreeRows make(const RowsView& x, std::size_t first, std::size_t count, Buffer& buffer) const;

 private:
  template <class T>
  void fill(const MatrixView<const T>& x, std::vector<T>& out) const;

  std::vector<TreeInput> inputs_;
  std::vector<CategorySet> sets_;
  bool direct_;  // input i is column i, as it is
};

}  // namespace harmonia
