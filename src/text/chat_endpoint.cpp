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

  Questions(const EndpointAddress& address, const std::string& model, const ChatParameters& parameters,
            ChatBudget& budget, std::span<const ChatQuestion> questions, const Taken& taken)
      : address_(address),
        model_(model),
        parameters_(parameters),
        budget_(budget),
        questions_(questions),
        taken_(taken),
        reserved_(questions.size()) {}

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
    return chat_request(model_, parameters_, questions_[number]);
  }

  bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) override {
    ChatAnswer answer;
    if (tries == 0) {
      answer.reason = why_unasked(number);
    } else {
      address_.require_served(attempt, tries);
      answer = address_.chat_answer(attempt, tries);
      // What nobody waited for, or was too long, was computed, and is paid for, all the same.
      if (attempt.succeeded() || attempt.too_long || attempt.code == CURLE_OPERATION_TIMEDOUT)
        budget_.tokens += answer.tokens > 0 ? answer.tokens : reserved_[number];
      if (answer.outcome == ChatOutcome::failed && !last) return false;
      answer.calls = static_cast<std::uint64_t>(tries);
    }
    all_reserved_ -= std::exchange(reserved_[number], 0);
    taken_(number, std::move(answer));
    return true;
  }

 private:
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
  ChatBudget& budget_;
  std::span<const ChatQuestion> questions_;
  const Taken& taken_;
  std::vector<std::uint64_t> reserved_;  // tokens that a question which is under way may take
  std::uint64_t all_reserved_ = 0;
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
    Questions work(address_, model_, parameters_, budget_, questions, taken);
    transfers_.run(address_.url(), questions.size(), work);
  }

 private:
  EndpointAddress address_;
  std::string model_, name_;
  ChatParameters parameters_;
  ChatBudget& budget_;
  HttpTransfers transfers_;
};

}  // namespace

std::unique_ptr<Chat> open_chat_endpoint(const EndpointOptions& options, const ChatParameters& parameters,
                                         ChatBudget& budget) {
  return std::make_unique<ChatEndpoint>(options, parameters, budget);
}

}  // namespace harmonia
