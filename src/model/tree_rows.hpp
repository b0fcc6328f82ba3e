#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harmonia/model/tree_ensemble.hpp"
#include "tree_walk.hpp"

namespace harmonia {

/// Farthest from 0 that `zero_is_missing` takes for 0: in float32, as LightGBM has it.
constexpr double kLightGbmZero = 1e-35F;

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

  /// Puts 1 … block rows, or what is by `steps` (an input each; null: none), and `further` by others, from
  /// them, into a block, as float32 and their columns as they are; true if a value is NaN. `seen` are then
  /// the rows without the block's order.
  bool make_block(std::span<const double* const> rows, const double* steps, const double* further,
                  std::vector<float>& seen, float* block) const;
  /// The same, where every row has steps of its own.
  bool make_block(std::span<const double* const> rows, std::span<const double* const> steps,
                  std::span<const double* const> further, std::vector<float>& seen, float* block) const;

  /// What splits compare of one input (of those in use) where its column holds this, in the model's type.
  double seen(std::size_t input, double value) const;
  /// A column's number, and the category that it stands for.
  struct Coordinate {
    static constexpr std::int32_t kNone = -1, kBelowZero = -2, kMissing = -3;
    double value;
    std::int32_t category;  ///< or one of these; kBelowZero: less than 1 below
  };
  Coordinate coordinate(double value) const;
  /// As seen(), of an input where its column holds each of these in turn, in float32.
  void see(std::size_t input, std::span<const Coordinate> values, float* out) const;
  /// The column of an input in use.
  std::size_t column(std::size_t input) const { return columns_[input]; }
  /// Inputs in use.
  std::size_t inputs() const { return inputs_.size(); }
  /// How an input is made of its column.
  TreeInput::Rule rule(std::size_t input) const { return inputs_[input].rule; }
  /// The input is its column as it is.
  bool plain(std::size_t input) const { return rule(input) == TreeInput::Rule::plain; }

 private:
  void step(const double* x, const double* steps, const double* further, float* to) const;
  template <class T>
  void look(const MatrixView<const T>& x, std::vector<float>& out) const;

  std::vector<TreeInput> inputs_;
  std::vector<CategorySet> sets_;
  Scalar scalar_;
  const TreeKernel& kernel_;
  std::vector<std::uint32_t> columns_, in_order_;
  bool plain_ = true;         // every input is a column as it is
  bool all_columns_ = false;  // input i is column i
};

}  // namespace harmonia
