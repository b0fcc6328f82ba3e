#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/model/tree_ensemble.hpp"

namespace harmonia::test {

using ReadTrees = std::function<TreeEnsemble(const std::string& bytes)>;

/// All bytes of a file in tests/data.
inline std::string data_file(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(HARMONIA_TEST_DATA) / name;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {(std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()};
}

/// Evaluates one row of zeros and one of missing values.
inline void evaluate_once(const TreeEnsemble& ensemble) {
  const auto model = make_tree_model(
      ensemble, {.name = "m", .kind = "k", .sha256 = "", .margin = true, .simd = best_simd()});
  const std::size_t columns = model->info().inputs;
  Matrix<double> y(2, model->info().outputs);
  if (model->info().scalar == Scalar::float32) {
    Matrix<float> x(2, columns);
    std::fill_n(x.row(1), columns, std::numeric_limits<float>::quiet_NaN());
    model->evaluate(RowsView(x.view()), y.view());
  } else {
    Matrix<double> x(2, columns);
    std::fill_n(x.row(1), columns, std::numeric_limits<double>::quiet_NaN());
    model->evaluate(RowsView(x.view()), y.view());
  }
}

/// Reads broken bytes. What is refused is refused as Error(input) with one line that names the model; what is
/// not can be evaluated. True if it was refused.
inline bool refused(const ReadTrees& read, const std::string& bytes) {
  try {
    evaluate_once(read(bytes));
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ErrorCode::input) << message;
    EXPECT_TRUE(message.starts_with("model m")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400U) << message;
    return true;
  }
  return false;
}

/// Every beginning of the file that is shorter than `whole` is refused.
inline void expect_truncations_refused(const ReadTrees& read, const std::string& bytes, std::size_t whole,
                                       std::size_t step) {
  for (std::size_t size = 0; size < whole; size += step) {
    EXPECT_TRUE(refused(read, bytes.substr(0, size))) << "the first " << size << " bytes were taken";
  }
}

/// Changes one to four bytes at random, many times: never anything but an Error or a model.
inline void expect_corruption_survived(const ReadTrees& read, const std::string& bytes, int times) {
  std::mt19937_64 random(7);
  int refusals = 0;
  for (int i = 0; i < times; ++i) {
    std::string broken = bytes;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      broken[random() % broken.size()] = static_cast<char>(random() % 256);
    }
    refusals += refused(read, broken) ? 1 : 0;
  }
  EXPECT_GT(refusals, times / 10);
}

}  // namespace harmonia::test
