#pragma once

#include <string>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "memory_file.hpp"

namespace harmonia::fuzz {

/// Asks a model one row of zeros.
template <class T>
void ask(const Model& model) {
  const std::vector<T> x(model.info().inputs, T{0});
  std::vector<double> y(model.info().outputs);
  model.evaluate(RowsView(MatrixView<const T>{x.data(), 1, x.size()}), {y.data(), 1, y.size()});
}

/// What a reader takes can be evaluated; what it refuses is refused in one line.
inline int read_and_ask(TreeEnsemble (*read)(const std::string&, const std::string&),
                        const std::string& bytes) {
  try {
    const auto model = make_tree_model(
        read(bytes, "m"), {.name = "m", .kind = "k", .sha256 = "", .margin = false, .simd = best_simd()});
    model->info().scalar == Scalar::float32 ? ask<float>(*model) : ask<double>(*model);
  } catch (const Error& error) {
    const std::string message = error.what();
    require(error.code() == ErrorCode::input && message.find('\n') == std::string::npos);
  }
  return 0;
}

}  // namespace harmonia::fuzz
