#include "harmonia/core/suggestion.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace harmonia {
namespace {

TEST(Suggestion, AShellReadsAWordAsItWas) {
  EXPECT_EQ(shell_word("age,income"), "age,income");
  EXPECT_EQ(shell_word("fixed acidity"), "'fixed acidity'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME;*"), "'$HOME;*'");
  EXPECT_EQ(shell_word("größe"), "'größe'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_list(std::vector<std::string>{"a", "b c"}), "'a,b c'");
}

TEST(Suggestion, TheNearestName) {
  const std::vector<std::string> names{"gamma", "gate", "map", "persistence"};
  EXPECT_EQ(nearest_name("gama", names), "gamma");
  EXPECT_EQ(nearest_name("gamma", names), "gamma");
  EXPECT_EQ(nearest_name("gat", names), "gate");
  EXPECT_EQ(nearest_name("pers", names), "persistence");
  EXPECT_EQ(nearest_name("mpa", names), "");
  EXPECT_EQ(nearest_name("serve", names), "");
  EXPECT_EQ(nearest_name("", names), "");
}

}  // namespace
}  // namespace harmonia
