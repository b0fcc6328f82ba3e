#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/rows.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia::test {

/// The message of the Error that action throws, which must have that code and one line.
inline std::string message_of(ErrorCode code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// The message holds each of the parts.
inline testing::AssertionResult says(const std::string& message, const auto&... parts) {
  const bool all = (... && (message.find(parts) != std::string::npos));
  return all ? testing::AssertionSuccess() : testing::AssertionFailure() << "the message is: " << message;
}

/// Rows that differ, with digits that only a full round trip keeps.
inline Matrix<double> awkward_rows(std::size_t rows, std::size_t columns) {
  Matrix<double> x(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      x.row(i)[j] = (static_cast<double>(i % 1009) - 503) / 7 + static_cast<double>(j) / 3;
    }
  }
  return x;
}

inline Matrix<double> evaluate(const Model& model, const Matrix<double>& x) {
  Matrix<double> y(x.rows(), model.info().outputs);
  model.evaluate(RowsView(x.view()), y.view());
  return y;
}

}  // namespace harmonia::test
