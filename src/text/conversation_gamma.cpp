#include "harmonia/text/conversation_gamma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conversation_json.hpp"
#include "endpoint_parts.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "http_transfers.hpp"
#include "text_embeddings.hpp"

namespace harmonia {
namespace {

// Calls that are made as they are.
class Calls final : public TransferWork {
 public:
  Calls(const EndpointAddress& address, std::vector<std::string> bodies)
      : answers(bodies.size()), address_(address), bodies_(std::move(bodies)) {}

  Leave leave(std::size_t) override { return Leave::now; }
  std::string body(std::size_t number) override { return std::move(bodies_[number]); }
  bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) override {
    address_.require_served(attempt, tries);
    ChatAnswer answer = address_.chat_answer(attempt, tries);
    if (answer.outcome == ChatOutcome::failed && !last) return false;
    answer.calls = static_cast<std::uint64_t>(tries);
    answers[number] = std::move(answer);
    return true;
  }

  std::vector<ChatAnswer> answers;

 private:
  const EndpointAddress& address_;
  std::vector<std::string> bodies_;
};

}  // namespace

class ConversationMeter::Asker {
 public:
  explicit Asker(const EndpointOptions& endpoint)
      : headers(endpoint.headers),
        address_(endpoint, "/chat/completions"),
        transfers_(address_.http(), endpoint.in_flight) {}

  std::vector<ChatAnswer> ask(std::vector<std::string> bodies) {
    const std::size_t count = bodies.size();
    Calls calls(address_, std::move(bodies));
    transfers_.run(address_.url(), count, calls);
    return std::move(calls.answers);
  }

  const std::vector<std::string> headers;

 private:
  EndpointAddress address_;
  HttpTransfers transfers_;
};

ConversationMeter::ConversationMeter(EndpointOptions endpoint, const ConversationOptions& options,
                                     Embedder& embedder, std::mutex& embedding)
    : endpoint_(std::move(endpoint)), options_(options), embedder_(embedder), embedding_(embedding) {
  check_confidence(options.confidence);
  if (options.variants < 2) {
    throw Error(ErrorCode::usage,
                fmt::format("{} of a message; expected at least 2", counted(options.variants, "variant")));
  }
  endpoint_.key.clear();
  asker_ = std::make_unique<Asker>(endpoint_);
}

ConversationMeter::~ConversationMeter() = default;

ConversationGamma ConversationMeter::measure(const ConversationTask& task) {
  ConversationGamma result;
  try {
    if (trim(task.answer).empty()) throw Error(ErrorCode::model, "the answer has no text");
    const ConversationCall call(task.call);
    std::vector<std::string> bodies;
    for (std::size_t r = 1; r <= options_.repeats; ++r)
      bodies.push_back(call.with(call.question(), r, options_.most_tokens));
    for (const std::string& variant :
         prompt_variants(call.question(), options_.family, options_.variants, options_.seed, task.number))
      bodies.push_back(call.with(variant, 0, options_.most_tokens));
    if (bodies.size() < options_.repeats + 2) {
      throw Error(ErrorCode::input,
                  fmt::format("the family {} has no variants of the message", family_name(options_.family)));
    }
    if (asker_->headers != task.headers) {
      EndpointOptions endpoint = endpoint_;
      endpoint.headers = task.headers;
      asker_ = std::make_unique<Asker>(endpoint);
    }
    const std::vector<ChatAnswer> answers = asker_->ask(std::move(bodies));
    TextEmbeddings embeddings;
    const std::size_t own = embeddings.place(task.answer);
    std::vector<std::size_t> same, around;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const ChatAnswer& answer = answers[i];
      const bool is_variant = i >= options_.repeats;
      result.calls += answer.calls;
      result.tokens += answer.tokens;
      if (answer.outcome == ChatOutcome::answered) {
        (is_variant ? around : same).push_back(embeddings.place(answer.text));
        if (is_variant && answer.finish == "length") ++result.cut;
      } else if (is_variant) {
        ++(answer.outcome == ChatOutcome::refused ? result.refused : result.failed);
        if (result.reason.empty()) result.reason = answer.reason;
      }
    }
    const auto require_two = [&] {
      if (around.size() >= 2) return;
      throw Error(ErrorCode::model, fmt::format("{} of {} answered; expected at least 2: {}", around.size(),
                                                counted(options_.variants, "variant"), result.reason));
    };
    require_two();
    {
      const std::lock_guard lock(embedding_);
      embeddings.embed(embedder_, endpoint_.stop);
    }
    const auto is_missing = [&](std::size_t place) { return !embeddings.missing(place).empty(); };
    if (is_missing(own)) throw Error(ErrorCode::model, embeddings.missing(own));
    if (const auto first = std::ranges::find_if(around, is_missing); first != around.end())
      result.reason = embeddings.missing(*first);
    result.failed += std::erase_if(around, is_missing);
    std::erase_if(same, is_missing);
    require_two();
    const Matrix<float> variants = embeddings.rows(around), repeats = embeddings.rows(same);
    result.gamma = text_gamma(embeddings[own], variants.view(), repeats.view(), options_.confidence);
    result.gamma->changed =  // by their texts: each has one place
        around.size() - static_cast<std::size_t>(std::ranges::count(around, own));
    result.reason.clear();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    result.reason = error.what();
  }
  return result;
}

}  // namespace harmonia
