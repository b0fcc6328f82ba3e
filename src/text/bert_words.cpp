#include "bert_words.hpp"

#include <fmt/format.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>
#include <utility>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr UChar32 kReplacement = 0xFFFD;

// The Unicode that has it first; 0: none.
int age(UChar32 c) {
  UVersionInfo version;
  u_charAge(c, version);
  return version[0];
}

// In Unicode 8.0. These had another category then; all others keep theirs, or were not there.
std::int8_t category(UChar32 c) {
  switch (c) {
    case 0x166D:
    case 0x111C9:
      return U_OTHER_PUNCTUATION;
    case 0x1734:
      return U_NON_SPACING_MARK;
    case 0x1885:
    case 0x1886:
      return U_OTHER_LETTER;
    case 0xA9BD:
      return U_COMBINING_SPACING_MARK;
    default:
      break;
  }
  return age(c) > 8 ? std::int8_t{U_UNASSIGNED} : u_charType(c);
}

bool is_space(UChar32 c) { return u_isUWhiteSpace(c) != 0; }

bool is_left_out(UChar32 c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  const std::int8_t kind = category(c);
  return c == kReplacement || kind == U_CONTROL_CHAR || kind == U_FORMAT_CHAR || kind == U_PRIVATE_USE_CHAR;
}

// The blocks that the reference puts blanks around, its hole from 2B820 to 2B91F included.
bool is_chinese(UChar32 c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

// In ASCII all that is neither letter, digit nor blank: $ and + too, which are symbols to Unicode.
bool is_punctuation(UChar32 c) {
  if (c < 0x80) return u_isgraph(c) != 0 && u_isalnum(c) == 0;
  return (U_MASK(category(c)) & U_GC_P_MASK) != 0;
}

// The next code point of text[at…]; at moves past it.
UChar32 next_of(std::string_view text, std::size_t& at) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  UChar32 c = 0;
  U8_NEXT_OR_FFFD(bytes, at, text.size(), c);
  return c;
}

void append(std::string& text, UChar32 c) {
  char bytes[U8_MAX_LENGTH];
  std::size_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  text.append(bytes, length);
}

// Collects words, a character at a time.
class Words {
 public:
  // Accents go, capitals become small.
  void add(UChar32 c) {
    if (category(c) == U_NON_SPACING_MARK) return;
    c = u_tolower(c);
    const bool alone = is_punctuation(c);
    if (alone) end_word();
    append(word_, c);
    if (alone) end_word();
  }
  void end_word() {
    if (!word_.empty()) words.push_back(std::move(word_));
    word_.clear();
  }

  std::vector<std::string> words;

 private:
  std::string word_;
};

// Adds a character, its accents as characters of their own. These are not brought into canonical order: they
// go, but for a few of which no word piece is made.
void add_parts(const icu::Normalizer2& nfd, UChar32 c, Words& words) {
  icu::UnicodeString parts;
  if (c < 0x80 || age(c) > 9 || nfd.getDecomposition(c, parts) == 0) return words.add(c);
  for (std::int32_t at = 0; at < parts.length(); at = parts.moveIndex32(at, 1)) words.add(parts.char32At(at));
}

}  // namespace

std::vector<std::string> bert_words(std::string_view text, std::size_t most) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* nfd = icu::Normalizer2::getNFDInstance(error);
  if (U_FAILURE(error))
    throw Error(ErrorCode::model, fmt::format("ICU cannot be used: {}", u_errorName(error)));
  Words found;
  for (std::size_t at = 0; at < text.size() && found.words.size() < most;) {
    const UChar32 c = next_of(text, at);
    if (is_left_out(c)) continue;
    const bool blank = is_space(c), alone = is_chinese(c);
    if (blank || alone) found.end_word();
    if (!blank) add_parts(*nfd, c, found);
    if (alone) found.end_word();
  }
  found.end_word();
  if (found.words.size() > most) found.words.resize(most);
  return std::move(found.words);
}

}  // namespace harmonia
