#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"

namespace harmonia::test {

/// Answers by a function, in an order of its own.
class FunctionChat final : public Chat {
 public:
  explicit FunctionChat(std::function<ChatAnswer(const ChatQuestion&)> answer) : answer_(std::move(answer)) {}
  const std::string& name() const override { return name_; }
  void ask(std::span<const ChatQuestion> questions,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override {
    for (std::size_t i = questions.size(); i-- > 0;) taken(i, answer_(questions[i]));
  }

 private:
  std::string name_ = "function";
  std::function<ChatAnswer(const ChatQuestion&)> answer_;
};

/// An answer that took one call and ten tokens.
inline ChatAnswer said(const std::string& text) {
  ChatAnswer answer;
  answer.outcome = ChatOutcome::answered;
  answer.text = text;
  answer.calls = 1;
  answer.tokens = 10;
  return answer;
}

/// "0.3" lies at the angle 0.3; anything else at its length.
class AngleEmbedder final : public Embedder {
 public:
  const std::string& name() const override { return name_; }
  Embeddings embed(std::span<const std::string> texts) override {
    Matrix<float> rows(texts.size(), 2);
    const std::set<std::string> different(texts.begin(), texts.end());
    EXPECT_EQ(different.size(), texts.size()) << "a text is embedded twice";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const double angle =
          texts[i].starts_with("0.") ? std::stod(texts[i]) : static_cast<double>(texts[i].size());
      rows.row(i)[0] = static_cast<float>(std::cos(angle));
      rows.row(i)[1] = static_cast<float>(std::sin(angle));
    }
    return {std::move(rows), {}};
  }

 private:
  std::string name_ = "angles";
};

}  // namespace harmonia::test
