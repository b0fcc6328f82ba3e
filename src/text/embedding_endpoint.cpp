#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "distinct_texts.hpp"
#include "endpoint_parts.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/text/endpoint.hpp"
#include "http_transfers.hpp"
#include "openai_json.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kTextsPerRequest = 64;

// Neighbouring texts of one request.
struct Batch {
  std::size_t first = 0, count = 0;
};

// A request that came to nothing.
struct Failure {
  Batch batch;
  std::string reason;
  bool refused = false;    // the texts are, and not only for now
  bool divisible = false;  // fewer texts may fare better
};

class Batches final : public TransferWork {
 public:
  Batches(const EndpointAddress& address, const std::string& model, std::span<const std::string> texts,
          std::span<const Batch> batches, std::vector<Matrix<float>>& answers)
      : address_(address), model_(model), texts_(texts), batches_(batches), answers_(answers) {}

  Leave leave(std::size_t) override { return Leave::now; }

  std::string body(std::size_t number) override {
    return embedding_request(model_, texts_.subspan(batches_[number].first, batches_[number].count));
  }

  bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) override {
    const Batch& batch = batches_[number];
    if (!attempt.succeeded()) {
      address_.require_served(attempt, tries);
      const bool patience = attempt.code == CURLE_OPERATION_TIMEDOUT || attempt.status == 429;
      failures_.push_back({batch, fmt::format("{}: {}", address_.name(), address_.failure(attempt, tries)),
                           refuses_text(attempt), !patience});
      return true;
    }
    try {
      answers_[batch.first] = read_embeddings(attempt.body, batch.count, address_.name());
    } catch (const Error& error) {
      if (!last) return false;
      failures_.push_back({batch, address_.without_secrets(error.what()), false, true});
    }
    return true;
  }

  std::vector<Failure> take_failures() { return std::move(failures_); }

 private:
  const EndpointAddress& address_;
  const std::string& model_;
  std::span<const std::string> texts_;
  std::span<const Batch> batches_;
  std::vector<Matrix<float>>& answers_;  // by the first text of a batch
  std::vector<Failure> failures_;
};

HttpOptions http_of(const EndpointAddress& address) {
  HttpOptions http = address.http();
  http.longest_answer *= kTextsPerRequest;
  return http;
}

class EmbeddingEndpoint final : public Embedder {
 public:
  explicit EmbeddingEndpoint(const EndpointOptions& options)
      : address_(options, "/embeddings"),
        model_(options.model),
        name_(model_.empty() ? address_.base() : fmt::format("{} at {}", model_, address_.base())),
        transfers_(http_of(address_), options.in_flight) {}

  const std::string& name() const override { return name_; }

  Embeddings embed(std::span<const std::string> texts) override {
    // A server may answer the same text differently in another batch: each is asked once.
    const DistinctTexts distinct(texts);
    return distinct.spread(embed_distinct(distinct.texts));
  }

 private:
  // What became of the texts of one call.
  struct Answers {
    std::span<const std::string> texts;
    std::vector<Matrix<float>> rows;  // by the first text of a batch
    std::map<std::size_t, std::string> missing;
  };

  Embeddings embed_distinct(std::span<const std::string> texts) {
    Answers answers{texts, std::vector<Matrix<float>>(texts.size()), {}};
    std::vector<Batch> batches;
    for (std::size_t first = 0; first < texts.size(); first += kTextsPerRequest)
      batches.push_back({first, std::min(kTextsPerRequest, texts.size() - first)});
    const std::vector<Failure> failures = ask(batches, answers);
    if (failures.size() < batches.size()) down_ = false;
    for (const Failure& failure : failures) {
      if (down_) {
        mark(failure, answers);
      } else {
        down_ = !take_apart(failure, answers);
      }
    }
    return joined(answers);
  }

  std::vector<Failure> ask(std::span<const Batch> batches, Answers& answers) {
    Batches work(address_, model_, answers.texts, batches, answers.rows);
    transfers_.run(address_.url(), batches.size(), work);
    return work.take_failures();
  }

  static void mark(const Failure& failure, Answers& answers) {
    for (std::size_t i = 0; i < failure.batch.count; ++i)
      answers.missing.emplace(failure.batch.first + i, failure.reason);
  }

  // Halves what failed until the texts to blame are known. False: they are all of several, and none was
  // refused.
  bool take_apart(const Failure& whole, Answers& answers) {
    const std::size_t before = answers.missing.size();
    for (std::vector<Failure> failed{whole}; !failed.empty();) {
      std::vector<Batch> halves;
      for (const Failure& failure : failed) {
        const auto [first, count] = failure.batch;
        if (count == 1 || !failure.divisible) {
          mark(failure, answers);
        } else {
          halves.push_back({first, count / 2});
          halves.push_back({first + count / 2, count - count / 2});
        }
      }
      failed = ask(halves, answers);
    }
    const bool all = answers.missing.size() - before == whole.batch.count;
    return whole.refused || whole.batch.count == 1 || !all;
  }

  Embeddings joined(const Answers& answers) {
    for (const Matrix<float>& answer : answers.rows)
      if (columns_ == 0) columns_ = answer.columns();
    Embeddings result{Matrix<float>(answers.texts.size(), columns_), answers.missing};
    for (std::size_t first = 0; first < answers.rows.size(); ++first) {
      const Matrix<float>& answer = answers.rows[first];
      if (answer.rows() == 0) continue;
      if (answer.columns() != columns_) {
        throw Error(ErrorCode::model,
                    fmt::format("{}: embeddings of {} numbers; expected {}, as in its first answer",
                                address_.name(), answer.columns(), columns_));
      }
      std::copy_n(answer.row(0), answer.rows() * columns_, result.rows.row(first));
    }
    return result;
  }

  EndpointAddress address_;
  std::string model_, name_;
  HttpTransfers transfers_;
  std::size_t columns_ = 0;  // of its first answer
  bool down_ = false;        // nothing in the last request that was taken apart could be had
};

}  // namespace

std::unique_ptr<Embedder> open_embedding_endpoint(const EndpointOptions& options) {
  return std::make_unique<EmbeddingEndpoint>(options);
}

}  // namespace harmonia
