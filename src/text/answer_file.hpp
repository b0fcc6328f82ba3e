#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/sqlite_file.hpp"
#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"

namespace harmonia {

/// A question and what became of it.
struct AnsweredQuestion {
  const ChatQuestion* question = nullptr;
  const ChatAnswer* answer = nullptr;
};

/// The tables of a store of answers and embeddings. Every put is there after the process is killed.
class AnswerFile {
 public:
  /// Throws Error(input) if it is no such store or cannot be written.
  explicit AnswerFile(const std::string& path);

  /// The number of who asks so, and of who embeds so; entered if they are new.
  std::uint64_t asker(std::string_view address, std::string_view model, std::string_view parameters) const;
  std::uint64_t embedder(std::string_view name) const;

  /// Of every question, the answer that is there.
  std::vector<std::optional<ChatAnswer>> find(std::uint64_t asker, std::span<const ChatQuestion> questions);
  /// Stores answers of outcomes that would come again, all or none; what another process stored meanwhile
  /// stays.
  void put(std::uint64_t asker, std::span<const AnsweredQuestion> answered);

  /// Empty: it is not there.
  std::vector<float> find(std::uint64_t embedder, const std::string& text);
  /// Stores those that are not missing.
  void put(std::uint64_t embedder, std::span<const std::string> texts, const Embeddings& found);

  const std::string& path() const { return file_.path(); }

 private:
  std::uint64_t the_number(SqliteStatement& find) const;
  std::optional<ChatAnswer> find_one(std::uint64_t asker, const ChatQuestion& question);
  void put_one(std::uint64_t asker, const AnsweredQuestion& answered);

  SqliteFile file_;
  SqliteStatement find_answer_, put_answer_, find_embedding_, put_embedding_;
};

}  // namespace harmonia
