#include "wordpiece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bert_words.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters
constexpr std::array<std::string_view, 5> kSpecial{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::string_view without_blanks_at_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

WordPiece::WordPiece(std::string vocabulary, const std::string& file) : vocabulary_(std::move(vocabulary)) {
  const std::string_view all = vocabulary_;
  for (std::size_t at = 0; at < all.size(); ++size_) {
    const std::size_t line_end = std::min(all.find('\n', at), all.size());
    const std::string_view piece = without_blanks_at_end(all.substr(at, line_end - at));
    at = line_end + 1;
    const auto number = static_cast<std::int64_t>(size_);
    first_[piece] = number;
    if (piece.starts_with("##")) further_[piece.substr(2)] = number;
    longest_ = std::max(longest_, piece.size());
  }
  const auto needed = [&](std::string_view token) {
    const auto found = first_.find(token);
    if (found != first_.end()) return found->second;
    throw Error(ErrorCode::input,
                fmt::format("vocabulary {} has {} and no {}; expected a piece a line, [UNK], "
                            "[CLS] and [SEP] among them",
                            file, counted(size_, "line"), token));
  };
  for (const std::string_view token : kSpecial) {
    if (const auto found = first_.find(token); found != first_.end()) special_.emplace_back(*found);
  }
  unknown_ = needed("[UNK]");
  start_ = needed("[CLS]");
  end_ = needed("[SEP]");
}

std::vector<std::int64_t> WordPiece::numbers(std::string_view text, std::size_t most) const {
  std::vector<std::int64_t> numbers{start_};
  std::size_t at = 0;
  while (at < text.size() && numbers.size() + 1 < most) {
    const auto [next, special] = find_special(text, at);
    add_pieces(text.substr(at, next - at), most, numbers);
    if (next < text.size()) numbers.push_back(special.second);
    at = next + special.first.size();
  }
  numbers.resize(std::min(numbers.size(), most - 1));
  numbers.push_back(end_);
  return numbers;
}

// The first one in text[at…] and where it starts; the text's end if there is none.
std::pair<std::size_t, WordPiece::Piece> WordPiece::find_special(std::string_view text,
                                                                 std::size_t at) const {
  for (at = text.find('[', at); at < text.size(); at = text.find('[', at + 1)) {
    for (const Piece& piece : special_) {
      if (text.substr(at).starts_with(piece.first)) return {at, piece};
    }
  }
  return {text.size(), {}};
}

void WordPiece::add_pieces(std::string_view text, std::size_t most,
                           std::vector<std::int64_t>& numbers) const {
  // A word has a piece at least.
  for (const std::string& word : bert_words(text, most - numbers.size())) {
    if (numbers.size() >= most) return;
    add_word(word, numbers);
  }
}

void WordPiece::add_word(std::string_view word, std::vector<std::int64_t>& numbers) const {
  const std::size_t before = numbers.size();
  bool known =
      static_cast<std::size_t>(std::count_if(word.begin(), word.end(), starts_character)) <= kLongestWord;
  for (std::size_t at = 0; known && at < word.size();) {
    const auto& pieces = at == 0 ? first_ : further_;
    std::size_t length = std::min(word.size() - at, longest_);
    auto found = pieces.end();
    for (; length > 0; --length) {
      if (at + length < word.size() && !starts_character(word[at + length])) continue;
      found = pieces.find(word.substr(at, length));
      if (found != pieces.end()) break;
    }
    known = found != pieces.end();
    if (known) numbers.push_back(found->second);
    at += length;
  }
  if (known) return;
  numbers.resize(before);
  numbers.push_back(unknown_);
}

}  // namespace harmonia
