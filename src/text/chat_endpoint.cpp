#include <fmt/format.h>

#include <utility>
#include <vector>

#include "endpoint_parts.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/text/endpoint.hpp"
#include "http_transfers.hpp"
#include "openai_json.hpp"

namespace harmonia {
namespace {

// What a chat's template may add to a question.
constexpr std::uint64_t kTemplateTokens = 64;

// The questions of one call, within the budget.
class Questions final : public TransferWork {
 public:
  using Taken = std::function<void(std::size_t, ChatAnswer)>;

  // limit: the name that is tried; another if the endpoint asks for that.
  Questions(const EndpointAddress& address, const std::string& model, const ChatParameters& parameters,
            TokenLimit& limit, ChatBudget& budget, std::span<const ChatQuestion> questions,
            const Taken& taken)
      : address_(address),
        model_(model),
        parameters_(parameters),
        limit_(limit),
        budget_(budget),
        questions_(questions),
        taken_(taken),
        reserved_(questions.size()),
        sent_(questions.size()) {}

  Leave leave(std::size_t number) override {
    if (budget_.most_calls && budget_.calls >= *budget_.most_calls) return Leave::never;
    const bool again = reserved_[number] > 0;
    const std::uint64_t tokens = most_tokens(number);
    if (budget_.most_tokens) {
      const std::uint64_t most = *budget_.most_tokens;
      if (budget_.tokens + tokens > most) return Leave::never;
      if (budget_.tokens + all_reserved_ + (again ? 0 : tokens) > most)
        return again ? Leave::never : Leave::later;
    }
    ++budget_.calls;
    if (!again) {
      reserved_[number] = tokens;
      all_reserved_ += tokens;
    }
    return Leave::now;
  }

  std::string body(std::size_t number) override {
    sent_[number] = limit_;
    return chat_request(model_, parameters_, questions_[number], limit_);
  }

  bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) override {
    ChatAnswer answer;
    if (tries == 0) {
      answer.reason = why_unasked(number);
    } else {
      address_.require_served(attempt, tries);
      if (wants_other_limit(number, attempt)) {
        limit_ = TokenLimit::max_completion_tokens;
        all_reserved_ -= std::exchange(reserved_[number], 0);
        again_.push_back(number);
        return true;
      }
      answer = address_.chat_answer(attempt, tries);
      // What nobody waited for, or was too long, was computed, and is paid for, all the same.
      if (attempt.succeeded() || attempt.too_long || attempt.code == CURLE_OPERATION_TIMEDOUT)
        budget_.tokens += answer.tokens > 0 ? answer.tokens : reserved_[number];
      if (answer.outcome == ChatOutcome::failed && !last) return false;
      answer.calls = static_cast<std::uint64_t>(tries);
    }
    all_reserved_ -= std::exchange(reserved_[number], 0);
    came_.emplace_back(number, std::move(answer));
    return true;
  }

  void settled() override {
    std::vector<std::pair<std::size_t, ChatAnswer>> together = std::exchange(came_, {});
    for (std::size_t i = 0; i < together.size(); ++i) {
      together[i].second.more = i + 1 < together.size();
      taken_(together[i].first, std::move(together[i].second));
    }
  }

  // Questions that are to be asked once more: the endpoint wants the limit under its other name.
  const std::vector<std::size_t>& again() const { return again_; }

 private:
  bool wants_other_limit(std::size_t number, const HttpAttempt& attempt) const {
    return sent_[number] == TokenLimit::max_tokens && refuses_text(attempt) &&
           attempt.body.find(token_limit_name(TokenLimit::max_completion_tokens)) != std::string::npos;
  }

  // No tokenizer makes more tokens than there are bytes.
  std::uint64_t most_tokens(std::size_t number) const {
    return questions_[number].text.size() + parameters_.system.size() + kTemplateTokens +
           parameters_.max_tokens;
  }

  std::string why_unasked(std::size_t number) const {
    if (budget_.most_calls && budget_.calls >= *budget_.most_calls)
      return fmt::format("the cap of {} calls is reached", *budget_.most_calls);
    return fmt::format("{} of {} tokens are spent, and the question may take {}", budget_.tokens,
                       budget_.most_tokens.value_or(0), most_tokens(number));
  }

  const EndpointAddress& address_;
  const std::string& model_;
  const ChatParameters& parameters_;
  TokenLimit& limit_;
  ChatBudget& budget_;
  std::span<const ChatQuestion> questions_;
  const Taken& taken_;
  std::vector<std::uint64_t> reserved_;  // tokens that a question which is under way may take
  std::uint64_t all_reserved_ = 0;
  std::vector<TokenLimit> sent_;  // of every question
  std::vector<std::size_t> again_;
  std::vector<std::pair<std::size_t, ChatAnswer>> came_;  // since the last ones were given
};

class ChatEndpoint final : public Chat {
 public:
  ChatEndpoint(const EndpointOptions& options, const ChatParameters& parameters, ChatBudget& budget)
      : address_(options, "/chat/completions"),
        model_(options.model),
        name_(options.model.empty() ? address_.base() : options.model),
        parameters_(parameters),
        budget_(budget),
        transfers_(address_.http(), options.in_flight) {}

  const std::string& name() const override { return name_; }

  void ask(std::span<const ChatQuestion> questions,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override {
    const std::vector<std::size_t> again = ask_once(questions, taken);
    if (again.empty()) return;
    std::vector<ChatQuestion> rest;
    rest.reserve(again.size());
    for (const std::size_t number : again) rest.push_back(questions[number]);
    ask_once(rest, [&](std::size_t number, ChatAnswer answer) {
      ++answer.calls;  // the one that was refused
      taken(again[number], std::move(answer));
    });
  }

 private:
  std::vector<std::size_t> ask_once(std::span<const ChatQuestion> questions, const Questions::Taken& taken) {
    Questions work(address_, model_, parameters_, limit_, budget_, questions, taken);
    transfers_.run(address_.url(), questions.size(), work);
    return work.again();
  }

  EndpointAddress address_;
  std::string model_, name_;
  ChatParameters parameters_;
  TokenLimit limit_ = TokenLimit::max_tokens;
  ChatBudget& budget_;
  HttpTransfers transfers_;
};

}  // namespace

std::unique_ptr<Chat> open_chat_endpoint(const EndpointOptions& options, const ChatParameters& parameters,
                                         ChatBudget& budget) {
  return std::make_unique<ChatEndpoint>(options, parameters, budget);
}

}  // namespace harmonia
