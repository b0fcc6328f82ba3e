#include <fmt/format.h>

#include <algorithm>
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

class Batches final : public TransferWork {
 public:
  Batches(const EndpointAddress& address, const std::string& model, std::span<const std::string> texts,
          std::vector<Batch> batches, std::vector<Matrix<float>>& answers)
      : address_(address), model_(model), texts_(texts), batches_(std::move(batches)), answers_(answers) {}

  Leave leave(std::size_t) override { return Leave::now; }

  std::string body(std::size_t number) override {
    return embedding_request(model_, texts_.subspan(batches_[number].first, batches_[number].count));
  }

  bool take(std::size_t number, HttpAttempt& attempt, int tries, bool last) override {
    const Batch& batch = batches_[number];
    if (attempt.succeeded()) {
      try {
        answers_[batch.first] = read_embeddings(attempt.body, batch.count, address_.name());
      } catch (const Error& error) {
        if (last) throw Error(error.code(), address_.without_secrets(error.what()));
        return false;
      }
    } else if (refuses_text(attempt) && batch.count > 1) {
      // Too many texts, or one that is too long: those that are not are had, and the message is of the one.
      const std::size_t half = batch.count / 2;
      smaller_.push_back({batch.first, half});
      smaller_.push_back({batch.first + half, batch.count - half});
    } else {
      throw Error(ErrorCode::model, fmt::format("{}: {}", address_.name(), address_.failure(attempt, tries)));
    }
    return true;
  }

  // What was refused, in halves.
  std::vector<Batch> take_smaller() { return std::move(smaller_); }

 private:
  const EndpointAddress& address_;
  const std::string& model_;
  std::span<const std::string> texts_;
  std::vector<Batch> batches_, smaller_;
  std::vector<Matrix<float>>& answers_;  // by the first text of a batch
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

  Matrix<float> embed(std::span<const std::string> texts) override {
    // A server may answer the same text differently in another batch: each is asked once.
    const DistinctTexts distinct(texts);
    return distinct.spread(embed_distinct(distinct.texts));
  }

 private:
  Matrix<float> embed_distinct(std::span<const std::string> texts) {
    std::vector<Matrix<float>> answers(texts.size());
    std::vector<Batch> batches;
    for (std::size_t first = 0; first < texts.size(); first += kTextsPerRequest)
      batches.push_back({first, std::min(kTextsPerRequest, texts.size() - first)});
    while (!batches.empty()) {
      const std::size_t count = batches.size();
      Batches work(address_, model_, texts, std::move(batches), answers);
      transfers_.run(address_.url(), count, work);
      batches = work.take_smaller();
    }
    if (columns_ == 0 && !texts.empty()) columns_ = answers[0].columns();
    Matrix<float> rows(texts.size(), columns_);
    for (std::size_t first = 0; first < texts.size(); first += answers[first].rows()) {
      const Matrix<float>& answer = answers[first];
      if (answer.columns() != columns_) {
        throw Error(ErrorCode::model,
                    fmt::format("{}: embeddings of {} numbers; expected {}, as in its first answer",
                                address_.name(), answer.columns(), columns_));
      }
      std::copy_n(answer.row(0), answer.rows() * columns_, rows.row(first));
    }
    return rows;
  }

  EndpointAddress address_;
  std::string model_, name_;
  HttpTransfers transfers_;
  std::size_t columns_ = 0;  // of its first answer
};

}  // namespace

std::unique_ptr<Embedder> open_embedding_endpoint(const EndpointOptions& options) {
  return std::make_unique<EmbeddingEndpoint>(options);
}

}  // namespace harmonia
