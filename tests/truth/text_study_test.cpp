#include "harmonia/text/text_study.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/expect_error.hpp"
#include "support/texts.hpp"

namespace harmonia {
namespace {

using test::AngleEmbedder;
using test::FunctionChat;
using test::said;

std::vector<Prompt> prompts_of(const std::vector<std::string>& texts) {
  std::vector<Prompt> prompts(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) prompts[i].text = texts[i];
  return prompts;
}

const std::vector<Prompt> kPrompts = prompts_of({"First one?", "Second?"});

TEST(TextStudy, AnswersThatMoveByAnAngleGiveThatAngle) {
  std::map<std::pair<std::string, std::size_t>, int> asked;
  FunctionChat chat([&](const ChatQuestion& question) {
    EXPECT_EQ(++asked[std::pair(question.text, question.repeat)], 1) << "asked twice";
    const bool plain = question.text == "First one?" || question.text == "Second?";
    return said(plain || question.text.starts_with("Second?") ? "0.1" : "0.4");
  });
  AngleEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.isotropy = false;
  const TextResult result = measure_text(chat, embedder, kPrompts, options, run);
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.model, "function");
  EXPECT_NEAR(result.rows[0].gamma->gamma, 0.3, 1e-6);
  EXPECT_EQ(result.rows[0].gamma->variants, 10U);
  EXPECT_EQ(result.rows[0].gamma->changed, 10U);
  EXPECT_EQ(result.rows[0].gamma->floor, 0);
  EXPECT_EQ(result.rows[0].settling.size(), 9U);
  EXPECT_EQ(result.rows[0].answer, "0.1");
  EXPECT_EQ(result.rows[0].answers, std::vector<std::string>(10, "0.4"));
  EXPECT_EQ(result.rows[1].gamma->gamma, 0);
  EXPECT_EQ(result.rows[0].calls, 14U);
  EXPECT_EQ(asked.size(), 27U) << "one variant is there twice";
  EXPECT_LT(asked.size(), text_questions(2, options));
  EXPECT_EQ(result.calls, 27U);
  EXPECT_EQ(result.tokens, 270U);
  EXPECT_EQ(run.ledger.spent(), 27U);
}

TEST(TextStudy, RepeatsGiveTheFloorAndFamiliesAreApart) {
  FunctionChat chat([](const ChatQuestion& question) {
    if (question.repeat > 0) return said(question.repeat % 2 == 0 ? "0.2" : "0.1");
    return said(question.text.find('\x20') == std::string::npos ? "0.15" : "0.16");
  });
  AngleEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.families = {PromptFamily::appended, PromptFamily::letter_case, PromptFamily::typing};
  options.variants = 4;
  const std::vector<Prompt> prompts = prompts_of({"Word", "2+2"});
  const TextResult result = measure_text(chat, embedder, prompts, options, run);
  ASSERT_EQ(result.rows.size(), 6U);
  EXPECT_GT(result.rows[0].gamma->floor.value(), 0.01);
  EXPECT_NEAR(result.rows[0].gamma->gamma, 0.01, 1e-6);
  EXPECT_EQ(result.rows[0].gamma->excess, 0) << "the floor explains it";
  EXPECT_EQ(result.rows[1].family, PromptFamily::letter_case);
  EXPECT_EQ(result.rows[1].gamma->gamma, 0);
  EXPECT_TRUE(result.rows[0].isotropy);
  // A prompt without letters has no variants in two of the families.
  EXPECT_FALSE(result.rows[4].gamma);
  EXPECT_EQ(result.rows[4].reason,
            "0 of 0 variants answered; expected at least 2: the family case has no variants of it");
  EXPECT_TRUE(result.rows[3].gamma);
}

TEST(TextStudy, WhatIsNotAnsweredIsMarkedAndTheRestMeasured) {
  FunctionChat chat([](const ChatQuestion& question) {
    ChatAnswer answer;
    answer.calls = 1;
    if (question.text == "First one?") {
      answer.outcome = ChatOutcome::failed;
      answer.reason = "no answer within 1 s";
      return answer;
    }
    if (question.text.find('\n') != std::string::npos) {
      answer.outcome = ChatOutcome::refused;
      answer.reason = "HTTP 400: line ends";
      return answer;
    }
    return said("0.5");
  });
  AngleEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.variants = 60;  // some with a line end among them
  const TextResult result = measure_text(chat, embedder, kPrompts, options, run);
  EXPECT_EQ(result.rows[0].outcome, ChatOutcome::failed);
  EXPECT_EQ(result.rows[0].reason, "no answer within 1 s");
  EXPECT_FALSE(result.rows[0].gamma);
  ASSERT_TRUE(result.rows[1].gamma);
  EXPECT_GT(result.rows[1].refused, 0U);
  EXPECT_EQ(result.rows[1].refused + result.rows[1].gamma->variants, 60U);
  EXPECT_EQ(result.rows[1].reason, "");
  EXPECT_EQ(result.rows[1].gamma->gamma, 0);
}

// As AngleEmbedder, but what has a '!' has no embedding.
class PickyEmbedder final : public Embedder {
 public:
  const std::string& name() const override { return angles_.name(); }
  Embeddings embed(std::span<const std::string> texts) override {
    Embeddings found = angles_.embed(texts);
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (texts[i].find('!') != std::string::npos) found.missing.emplace(i, "status 400: no '!'");
    if (found.missing.size() == texts.size()) found.rows = Matrix<float>(texts.size(), 0);
    return found;
  }

 private:
  AngleEmbedder angles_;
};

TEST(TextStudy, WhatHasNoEmbeddingIsMarkedAndTheRestMeasured) {
  // The first prompt's own answer, a third of the second's, and none of the third's but the prompt itself.
  FunctionChat chat([](const ChatQuestion& question) {
    if (question.text == "First one?" || question.text.starts_with("A prompt!")) return said("0.5!");
    const bool third = question.text.starts_with("Second? ") && question.text.back() % 3 == 0;
    return said(third ? "0.2!" : "0.2");
  });
  PickyEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.variants = 30;
  const std::vector<Prompt> prompts = prompts_of({"First one?", "Second?", "A prompt!", "Fourth!"});
  const TextResult result = measure_text(chat, embedder, prompts, options, run);
  EXPECT_FALSE(result.rows[0].gamma);
  EXPECT_FALSE(result.rows[0].embedded);
  EXPECT_EQ(result.rows[0].outcome, ChatOutcome::answered);
  EXPECT_EQ(result.rows[0].reason, "status 400: no '!'");
  ASSERT_TRUE(result.rows[1].gamma);
  EXPECT_GT(result.rows[1].failed, 0U);
  EXPECT_EQ(result.rows[1].failed + result.rows[1].gamma->variants, 30U);
  EXPECT_EQ(result.rows[1].answers.size(), result.rows[1].gamma->variants);
  EXPECT_EQ(result.rows[1].gamma->gamma, 0);
  EXPECT_FALSE(result.rows[2].gamma);
  ASSERT_TRUE(result.rows[3].gamma) << "its answers have embeddings; itself has none";
  EXPECT_FALSE(result.rows[3].isotropy);
  EXPECT_TRUE(result.rows[1].isotropy);
}

TEST(TextStudy, WithoutAnyEmbeddingThereIsNoStudy) {
  FunctionChat chat([](const ChatQuestion&) { return said("0.5!"); });
  PickyEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.isotropy = false;
  test::expect_error(ErrorCode::model, "status 400: no '!'",
                     [&] { measure_text(chat, embedder, kPrompts, options, run); });
}

TEST(TextStudy, OptionsThatMakeNoStudyAreRefused) {
  FunctionChat chat([](const ChatQuestion&) { return said("0.1"); });
  AngleEmbedder embedder;
  harmonia::Run run;
  TextOptions options;
  options.variants = 1;
  test::expect_error(ErrorCode::usage, "1 variant of a prompt; expected at least 2",
                     [&] { measure_text(chat, embedder, kPrompts, options, run); });
  options = {};
  options.families.clear();
  test::expect_error(ErrorCode::usage, "no family of variants; expected at least one",
                     [&] { measure_text(chat, embedder, kPrompts, options, run); });
}

}  // namespace
}  // namespace harmonia
