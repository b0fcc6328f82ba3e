#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace harmonia {

/// Texts as the numbers of word pieces, as BERT's uncased models take them: greedily the longest piece that
/// the vocabulary has; a word that has no pieces, or more than 100 characters, is [UNK]. [CLS], [SEP],
/// [MASK], [PAD] and [UNK] written in a text are the tokens themselves, as in the reference tokenizer.
class WordPiece {
 public:
  /// vocabulary: a piece a line, its number the line's, from 0; what continues a word starts with ##. `file`
  /// is for messages. Throws Error(input) if [UNK], [CLS] or [SEP] is not in it.
  WordPiece(std::string vocabulary, const std::string& file);
  WordPiece(const WordPiece&) = delete;
  WordPiece& operator=(const WordPiece&) = delete;

  /// Pieces in the vocabulary.
  std::size_t size() const { return size_; }

  /// [CLS], the text, [SEP]: at most `most` numbers, the end of the text cut off. most: at least 2.
  std::vector<std::int64_t> numbers(std::string_view text, std::size_t most) const;

 private:
  using Piece = std::pair<std::string_view, std::int64_t>;

  std::pair<std::size_t, Piece> find_special(std::string_view text, std::size_t at) const;
  void add_pieces(std::string_view text, std::size_t most, std::vector<std::int64_t>& numbers) const;
  void add_word(std::string_view word, std::vector<std::int64_t>& numbers) const;

  std::string vocabulary_;
  std::size_t size_ = 0, longest_ = 0;  // longest_: bytes of a piece
  // Views of vocabulary_: whole lines, and what follows ##.
  std::unordered_map<std::string_view, std::int64_t> first_, further_;
  std::vector<Piece> special_;
  std::int64_t unknown_ = 0, start_ = 0, end_ = 0;
};

}  // namespace harmonia
