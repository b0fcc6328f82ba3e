#include "harmonia/text/prompt_ascent.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harmonia/core/error.hpp"
#include "support/expect_error.hpp"
#include "support/texts.hpp"

namespace harmonia {
namespace {

using test::AngleEmbedder;
using test::FunctionChat;
using test::said;

// The longer a prompt is, the further its answers turn with every character: gamma grows along the walk.
ChatAnswer turning(const ChatQuestion& question) {
  const auto length = static_cast<double>(question.text.size());
  return said(fmt::format("0.{:06}", std::min(999999, static_cast<int>(80 * length * length))));
}

TEST(PromptAscent, ThePathRisesAndNothingIsAskedTwice) {
  std::multiset<std::string> asked;
  FunctionChat chat([&](const ChatQuestion& question) {
    asked.insert(question.text);
    return turning(question);
  });
  AngleEmbedder embedder;
  harmonia::Run run;
  AscentOptions options;
  const AscentResult result = ascend_prompt(chat, embedder, "Why?", 0, options, run);
  ASSERT_GE(result.path.size(), 2U);
  EXPECT_EQ(result.path.front().prompt, "Why?");
  for (std::size_t i = 1; i < result.path.size(); ++i) {
    EXPECT_GT(result.path[i].gamma.gamma, result.path[i - 1].gamma.gamma);
    EXPECT_TRUE(result.path[i].prompt.starts_with(result.path[i - 1].prompt)) << "it moves to a variant";
  }
  EXPECT_EQ(result.best, result.path.size() - 1);
  EXPECT_EQ(std::set<std::string>(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_EQ(result.calls, asked.size());
  EXPECT_LE(result.calls, ascent_calls(options));
  EXPECT_EQ(result.ended, "after 5 steps");
}

TEST(PromptAscent, OfAFlatModelItStaysWhereItIs) {
  FunctionChat chat([](const ChatQuestion&) { return said("0.5"); });
  AngleEmbedder embedder;
  harmonia::Run run;
  const AscentResult result = ascend_prompt(chat, embedder, "Why?", 0, {}, run);
  EXPECT_EQ(result.path.size(), 1U);
  EXPECT_EQ(result.path.front().gamma.gamma, 0);
  // The authors' walk moves all the same, at N(N + 1) calls a step.
  AscentOptions paper;
  paper.paper = true;
  paper.steps = 2;
  const AscentResult theirs = ascend_prompt(chat, embedder, "Why?", 0, paper, run);
  EXPECT_EQ(theirs.path.size(), 3U);
  EXPECT_LE(theirs.calls, ascent_calls(paper));
}

TEST(PromptAscent, EndsWhereAnswersEnd) {
  std::size_t left = 40;
  FunctionChat chat([&](const ChatQuestion& question) {
    if (left > 0) return --left, turning(question);
    ChatAnswer none;
    none.reason = "a cap was reached";
    return none;
  });
  AngleEmbedder embedder;
  harmonia::Run run;
  const AscentResult result = ascend_prompt(chat, embedder, "Why?", 0, {}, run);
  EXPECT_FALSE(result.path.empty());
  EXPECT_NE(result.ended, "after 5 steps");
  EXPECT_EQ(result.calls, 40U);
  test::expect_error(ErrorCode::model, "prompt 'Why?' has no gamma to start from: a cap was reached",
                     [&] { ascend_prompt(chat, embedder, "Why?", 0, {}, run); });
}

}  // namespace
}  // namespace harmonia
