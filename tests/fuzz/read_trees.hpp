#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "memory_file.hpp"

namespace harmonia::fuzz {

/// The answers to rows of zeros, missing values and large numbers.
template <class T>
std::vector<double> ask(const Model& model) {
  const std::size_t inputs = model.info().inputs;
  std::vector<T> x(3 * inputs, T{0});
  std::fill_n(x.begin() + inputs, inputs, std::numeric_limits<T>::quiet_NaN());
  std::fill_n(x.begin() + 2 * inputs, inputs, static_cast<T>(1e30));
  std::vector<double> y(3 * model.info().outputs);
  model.evaluate(RowsView(MatrixView<const T>{x.data(), 3, inputs}), {y.data(), 3, model.info().outputs});
  return y;
}

/// Trees can be evaluated, or are refused in one line; every way of walking them gives the same bits.
inline void ask_trees(const TreeEnsemble& trees) {
  try {
    std::vector<double> answers[2];
    for (const bool vectors : {false, true}) {
      const auto model = make_tree_model(trees, {.name = "m",
                                                 .kind = "k",
                                                 .sha256 = "",
                                                 .margin = false,
                                                 .simd = vectors ? best_simd() : Simd::scalar});
      answers[vectors ? 1 : 0] = trees.scalar == Scalar::float32 ? ask<float>(*model) : ask<double>(*model);
    }
    require(std::memcmp(answers[0].data(), answers[1].data(), answers[0].size() * sizeof(double)) == 0);
  } catch (const Error& error) {
    const std::string message = error.what();
    require(error.code() == ErrorCode::input && message.find('\n') == std::string::npos);
  }
}

/// What a reader takes can be evaluated; what it refuses is refused in one line.
inline int read_and_ask(TreeEnsemble (*read)(const std::string&, const std::string&),
                        const std::string& bytes) {
  try {
    ask_trees(read(bytes, "m"));
  } catch (const Error& error) {
    const std::string message = error.what();
    require(error.code() == ErrorCode::input && message.find('\n') == std::string::npos);
  }
  return 0;
}

}  // namespace harmonia::fuzz
