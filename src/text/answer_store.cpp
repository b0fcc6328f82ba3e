#include "harmonia/text/answer_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "answer_file.hpp"
#include "distinct_questions.hpp"
#include "distinct_texts.hpp"
#include "harmonia/core/error.hpp"
#include "openai_json.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kEmbeddedAtOnce = 512;  // of which nothing is kept if the process is killed

class StoredChat final : public Chat {
 public:
  StoredChat(AnswerFile& file, Chat& chat, const std::string& address, const ChatParameters& parameters)
      : file_(file), chat_(chat), asker_(file.asker(address, chat.name(), parameters_text(parameters))) {}

  const std::string& name() const override { return chat_.name(); }

  void ask(std::span<const ChatQuestion> questions,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override {
    const DistinctQuestions distinct(questions);
    std::vector<std::optional<ChatAnswer>> found = file_.find(asker_, distinct.questions);
    std::vector<ChatQuestion> open;
    std::vector<std::size_t> numbers;  // of those that are open
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i]) {
        distinct.give(i, std::move(*found[i]), taken);
      } else {
        open.push_back(distinct.questions[i]);
        numbers.push_back(i);
      }
    }
    if (open.empty()) return;
    std::vector<std::pair<std::size_t, ChatAnswer>> together;
    chat_.ask(open, [&](std::size_t number, ChatAnswer answer) {
      const bool more = std::exchange(answer.more, false);
      together.emplace_back(number, std::move(answer));
      if (more) return;
      std::vector<AnsweredQuestion> answered;
      answered.reserve(together.size());
      for (const auto& [place, what] : together) answered.push_back({&open[place], &what});
      file_.put(asker_, answered);  // first: whoever saw it does not ask again
      for (auto& [place, what] : together) distinct.give(numbers[place], std::move(what), taken);
      together.clear();
    });
  }

 private:
  AnswerFile& file_;
  Chat& chat_;
  std::uint64_t asker_;
};

class StoredEmbedder final : public Embedder {
 public:
  StoredEmbedder(AnswerFile& file, Embedder& embedder)
      : file_(file), embedder_(embedder), number_(file.embedder(embedder.name())) {}

  const std::string& name() const override { return embedder_.name(); }

  bool cuts(const std::string& text) const override { return embedder_.cuts(text); }

  Embeddings embed(std::span<const std::string> texts) override {
    const DistinctTexts distinct(texts);
    std::vector<std::vector<float>> rows;
    std::map<std::size_t, std::string> missing;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < distinct.texts.size(); ++i) {
      rows.push_back(file_.find(number_, distinct.texts[i]));
      if (rows.back().empty()) open.push_back(i);
    }
    for (std::size_t first = 0; first < open.size(); first += kEmbeddedAtOnce) {
      const std::span some = std::span(open).subspan(first, std::min(kEmbeddedAtOnce, open.size() - first));
      embed_new(distinct.texts, some, rows, missing);
    }
    const auto known = std::ranges::find_if(rows, [](const auto& row) { return !row.empty(); });
    Embeddings all{Matrix<float>(rows.size(), known == rows.end() ? 0 : known->size()), std::move(missing)};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (all.missing.contains(i)) continue;
      if (rows[i].size() != all.rows.columns()) {
        throw Error(
            ErrorCode::input,
            fmt::format("{}: embeddings of {} have {} and {} numbers; expected one model of that name",
                        file_.path(), name(), all.rows.columns(), rows[i].size()));
      }
      std::ranges::copy(rows[i], all.rows.row(i));
    }
    return distinct.spread(all);
  }

 private:
  void embed_new(std::span<const std::string> texts, std::span<const std::size_t> places,
                 std::vector<std::vector<float>>& rows, std::map<std::size_t, std::string>& missing) {
    std::vector<std::string> asked;
    for (const std::size_t place : places) asked.push_back(texts[place]);
    const Embeddings answer = embedder_.embed(asked);
    file_.put(number_, asked, answer);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (const auto why = answer.missing.find(i); why != answer.missing.end()) {
        missing.emplace(places[i], why->second);
      } else {
        rows[places[i]].assign(answer.rows.row(i), answer.rows.row(i) + answer.rows.columns());
      }
    }
  }

  AnswerFile& file_;
  Embedder& embedder_;
  std::uint64_t number_;
};

}  // namespace

AnswerStore::AnswerStore(const std::string& path) : file_(std::make_unique<AnswerFile>(path)) {}
AnswerStore::~AnswerStore() = default;

std::unique_ptr<Chat> AnswerStore::stored(Chat& chat, const std::string& address,
                                          const ChatParameters& parameters) {
  return std::make_unique<StoredChat>(*file_, chat, address, parameters);
}

std::unique_ptr<Embedder> AnswerStore::stored(Embedder& embedder) {
  return std::make_unique<StoredEmbedder>(*file_, embedder);
}

}  // namespace harmonia
