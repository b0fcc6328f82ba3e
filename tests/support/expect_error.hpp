#pragma once

#include <gtest/gtest.h>

#include <string>

#include "harmonia/core/error.hpp"

namespace harmonia::test {

/// Fails unless `action` throws an Error with this code and exactly this message.
template <class Action>
void expect_error(ErrorCode code, const std::string& message, Action action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
  }
}

}  // namespace harmonia::test
