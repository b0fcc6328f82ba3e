#pragma once

#include <memory>
#include <string>

#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"

namespace harmonia {

class AnswerFile;

/// Answers and embeddings in an SQLite file. An answer is known by address, model, parameters, text and
/// repeat, and is stored the moment it comes: a run that was killed goes on where it was, and asks nothing
/// again that was stored. Empty and too long answers are stored too; refusals and failures are not. Several
/// processes may share it. Holds no keys.
class AnswerStore {
 public:
  /// Opens or makes the file. Throws Error(input) if it is no such store or cannot be written.
  explicit AnswerStore(const std::string& path);
  ~AnswerStore();
  AnswerStore(const AnswerStore&) = delete;
  AnswerStore& operator=(const AnswerStore&) = delete;

  /// A chat that looks here first and stores what it is answered; the same question in one call is asked
  /// once. address: of the endpoint; chat: outlives what is returned, as the store does.
  std::unique_ptr<Chat> stored(Chat& chat, const std::string& address, const ChatParameters& parameters);
  /// An embedder that looks here first and stores what it is given, 512 texts at a time. embedder: outlives
  /// what is returned, as the store does. Throws Error(input) if stored ones are of another length.
  std::unique_ptr<Embedder> stored(Embedder& embedder);

 private:
  std::unique_ptr<AnswerFile> file_;
};

}  // namespace harmonia
