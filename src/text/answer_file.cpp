#include "answer_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace harmonia {
namespace {

// Texts are bytes: they may hold zeros, which SQLite's own text does not carry through. Embeddings are
// float32 in the order of bytes that the machine has.
constexpr SqliteFile::Kind kStore{"a store of answers", 0x4861726d, 1, R"(
  CREATE TABLE askers (id INTEGER PRIMARY KEY, address BLOB NOT NULL, model BLOB NOT NULL, parameters BLOB NOT NULL,
    UNIQUE (address, model, parameters));
  CREATE TABLE answers (asker INTEGER NOT NULL, text BLOB NOT NULL, repeat INTEGER NOT NULL, outcome BLOB NOT NULL,
    answer BLOB NOT NULL, reason BLOB NOT NULL, finish BLOB NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (asker, text, repeat));
  CREATE TABLE embedders (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
  CREATE TABLE embeddings (embedder INTEGER NOT NULL, text BLOB NOT NULL, numbers BLOB NOT NULL,
    PRIMARY KEY (embedder, text));)"};

// Outcomes that would come again. A refusal may be of the server's settings, which can be mended.
constexpr std::array kStored{ChatOutcome::answered, ChatOutcome::too_long, ChatOutcome::empty};

}  // namespace

AnswerFile::AnswerFile(const std::string& path)
    : file_(path, kStore),
      find_answer_(file_.prepare("SELECT outcome, answer, reason, finish, tokens FROM answers "
                                 "WHERE asker = ? AND text = ? AND repeat = ?")),
      put_answer_(file_.prepare("INSERT OR IGNORE INTO answers "
                                "(asker, text, repeat, outcome, answer, reason, finish, tokens) "
                                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")),
      find_embedding_(file_.prepare("SELECT numbers FROM embeddings WHERE embedder = ? AND text = ?")),
      put_embedding_(
          file_.prepare("INSERT OR IGNORE INTO embeddings (embedder, text, numbers) VALUES (?, ?, ?)")) {}

std::uint64_t AnswerFile::asker(std::string_view address, std::string_view model,
                                std::string_view parameters) const {
  file_.prepare("INSERT OR IGNORE INTO askers (address, model, parameters) VALUES (?, ?, ?)")
      .bind(address)
      .bind(model)
      .bind(parameters)
      .run();
  SqliteStatement find =
      file_.prepare("SELECT id FROM askers WHERE address = ? AND model = ? AND parameters = ?");
  find.bind(address).bind(model).bind(parameters);
  return the_number(find);
}

std::uint64_t AnswerFile::embedder(std::string_view name) const {
  file_.prepare("INSERT OR IGNORE INTO embedders (name) VALUES (?)").bind(name).run();
  SqliteStatement find = file_.prepare("SELECT id FROM embedders WHERE name = ?");
  find.bind(name);
  return the_number(find);
}

std::vector<std::optional<ChatAnswer>> AnswerFile::find(std::uint64_t asker,
                                                        std::span<const ChatQuestion> questions) {
  std::vector<std::optional<ChatAnswer>> answers;
  answers.reserve(questions.size());
  SqliteTransaction transaction(file_, false);  // else every question would take and give back its locks
  for (const ChatQuestion& question : questions) answers.push_back(find_one(asker, question));
  transaction.commit();
  return answers;
}

std::optional<ChatAnswer> AnswerFile::find_one(std::uint64_t asker, const ChatQuestion& question) {
  find_answer_.bind(asker).bind(question.text).bind(question.repeat);
  if (!find_answer_.next()) return std::nullopt;
  const std::string name(find_answer_.bytes(0));
  const auto* const outcome = std::ranges::find(kStored, name, &chat_outcome_name);
  if (outcome == kStored.end()) file_.damaged("an answer of no known outcome");
  ChatAnswer answer;
  answer.outcome = *outcome;
  answer.text = find_answer_.bytes(1);
  answer.reason = find_answer_.bytes(2);
  answer.finish = find_answer_.bytes(3);
  answer.tokens = find_answer_.number(4);
  find_answer_.end();
  return answer;
}

void AnswerFile::put(std::uint64_t asker, std::span<const AnsweredQuestion> answered) {
  if (answered.size() == 1) return put_one(asker, answered.front());  // is a transaction by itself
  SqliteTransaction transaction(file_);
  for (const AnsweredQuestion& each : answered) put_one(asker, each);
  transaction.commit();
}

void AnswerFile::put_one(std::uint64_t asker, const AnsweredQuestion& answered) {
  const ChatQuestion& question = *answered.question;
  const ChatAnswer& answer = *answered.answer;
  if (std::ranges::find(kStored, answer.outcome) == kStored.end()) return;
  const std::string outcome = chat_outcome_name(answer.outcome);
  put_answer_.bind(asker)
      .bind(question.text)
      .bind(question.repeat)
      .bind(outcome)
      .bind(answer.text)
      .bind(answer.reason)
      .bind(answer.finish)
      .bind(answer.tokens)
      .run();
}

std::vector<float> AnswerFile::find(std::uint64_t embedder, const std::string& text) {
  find_embedding_.bind(embedder).bind(text);
  if (!find_embedding_.next()) return {};
  const std::string_view bytes = find_embedding_.bytes(0);
  if (bytes.empty() || bytes.size() % sizeof(float) != 0) file_.damaged("an embedding of no whole numbers");
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  find_embedding_.end();
  return numbers;
}

void AnswerFile::put(std::uint64_t embedder, std::span<const std::string> texts, const Embeddings& found) {
  SqliteTransaction transaction(file_);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (found.missing.contains(i)) continue;
    const auto* const data = static_cast<const char*>(static_cast<const void*>(found.rows.row(i)));
    const std::string_view bytes(data, found.rows.columns() * sizeof(float));
    put_embedding_.bind(embedder).bind(texts[i]).bind(bytes).run();
  }
  transaction.commit();
}

std::uint64_t AnswerFile::the_number(SqliteStatement& find) const {
  if (!find.next()) file_.damaged("what was just stored is not there");
  return find.number(0);
}

}  // namespace harmonia
