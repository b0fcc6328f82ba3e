#include "harmonia/text/perturbation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "harmonia/core/random.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostChanges = 3;       // of one variant, as the authors have it
constexpr std::uint64_t kControls = 32;       // code points 0 to 31
constexpr std::uint64_t kAscentPoints = 501;  // code points 0 to 500, of the authors' ascent
constexpr std::uint64_t kVariantBits = 24;    // of a variant's number in the key of its draws

constexpr std::array<PromptFamilyInfo, 7> kFamilies{{
    {PromptFamily::appended, "appended", "a blank and 1 to 3 control characters after the prompt"},
    {PromptFamily::inserted, "inserted", "1 to 3 control characters anywhere in the prompt"},
    {PromptFamily::invisible, "invisible", "1 to 3 characters of no width anywhere in the prompt"},
    {PromptFamily::whitespace, "whitespace",
     "1 to 3 more blanks, tabs or line ends beside others or at an end"},
    {PromptFamily::typing, "typing", "a letter left out, doubled, exchanged or hit beside it"},
    {PromptFamily::letter_case, "case", "1 to 3 letters in the other case"},
    {PromptFamily::utf8, "utf8", "a blank and 1 to 3 characters of code points up to 500 after the prompt"},
}};

// Zero-width space, non-joiner, joiner, word joiner, no-break space of no width, soft hyphen.
constexpr std::array<std::uint32_t, 6> kInvisible{0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD};
constexpr std::array<std::uint32_t, 3> kBlanks{' ', '\t', '\n'};

// Keys beside each letter, a to z, on the usual keyboard.
constexpr std::array<std::string_view, 26> kBeside{
    "qwsz",   "vghn",  "xdfv", "serfcx", "wsdr", "drtgvc", "ftyhbv", "gyujnb", "ujko",
    "huikmn", "jiolm", "kop",  "njk",    "bhjm", "iklp",   "ol",     "wa",     "edft",
    "awedxz", "rfgy",  "yhji", "cfgb",   "qase", "zsdc",   "tghu",   "asx"};

// Numbers of one variant, one after another.
class Draws {
 public:
  explicit Draws(const DrawKey& key) : key_(key) {}
  // Uniform in 0 … bound − 1.
  std::size_t below(std::size_t bound) {
    const double drawn = draw_uniform(key_, next_++);
    return std::min(bound - 1, static_cast<std::size_t>(drawn * static_cast<double>(bound)));
  }
  std::size_t changes() { return 1 + below(kMostChanges); }
  template <class List>
  auto one_of(const List& list) {
    return list[below(list.size())];
  }

 private:
  DrawKey key_;
  std::uint64_t next_ = 0;
};

std::string encoded(std::uint64_t point) {
  const auto low = [&](unsigned shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0 | (point >> 6)), low(0)};
  return {static_cast<char>(0xE0 | (point >> 12)), low(6), low(0)};
}

// A prompt in whole characters.
using Characters = std::vector<std::string>;

// Bytes that are no UTF-8 are characters of their own.
Characters characters_of(std::string_view text) {
  Characters characters;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(character_length(text), 1);
    characters.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return characters;
}

std::string joined(const Characters& characters) {
  std::string text;
  for (const std::string& character : characters) text += character;
  return text;
}

bool is_blank(const std::string& character) {
  return character == " " || character == "\t" || character == "\n" || character == "\r";
}
bool is_ascii_letter(const std::string& character) {
  return character.size() == 1 && std::isalpha(static_cast<unsigned char>(character[0])) != 0;
}
// Whatever is beyond the signs of Latin-1 is taken for one.
bool is_letter(const std::string& character) {
  return is_ascii_letter(character) || (character.size() >= 2 && character >= "\xC3\x80");
}
std::string other_case(const std::string& letter) {
  const auto c = static_cast<unsigned char>(letter[0]);
  return {static_cast<char>(std::isupper(c) != 0 ? std::tolower(c) : std::toupper(c))};
}

template <class Wanted>
std::vector<std::size_t> places(const Characters& characters, const Wanted& wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < characters.size(); ++i)
    if (wanted(characters[i])) found.push_back(i);
  return found;
}

void insert(Characters& characters, std::size_t place, std::string character) {
  characters.insert(characters.begin() + static_cast<std::ptrdiff_t>(place), std::move(character));
}

std::string with_appended(std::string_view text, std::uint64_t points, Draws& draws) {
  std::string variant = std::string(text) + " ";
  for (std::size_t left = draws.changes(); left > 0; --left) variant += encoded(draws.below(points));
  return variant;
}

template <class Drawn>
std::string with_inserted(Characters characters, Draws& draws, const Drawn& drawn) {
  for (std::size_t left = draws.changes(); left > 0; --left) {
    const std::size_t place = draws.below(characters.size() + 1);
    insert(characters, place, encoded(drawn()));
  }
  return joined(characters);
}

std::string with_blanks(Characters characters, Draws& draws) {
  for (std::size_t left = draws.changes(); left > 0; --left) {
    std::vector<std::size_t> fit = places(characters, is_blank);
    fit.push_back(0);
    fit.push_back(characters.size());
    const std::size_t place = draws.one_of(fit);
    insert(characters, place, encoded(draws.one_of(kBlanks)));
  }
  return joined(characters);
}

std::string beside(const std::string& letter, Draws& draws) {
  const auto c = static_cast<unsigned char>(letter[0]);
  const std::string hit(1, draws.one_of(kBeside[static_cast<std::size_t>(std::tolower(c) - 'a')]));
  return std::isupper(c) != 0 ? other_case(hit) : hit;
}

// One letter left out, doubled, exchanged with the next one or, of the English alphabet, hit beside.
std::string mistyped(const Characters& characters, Draws& draws) {
  const std::vector<std::size_t> letters = places(characters, is_letter);
  for (;;) {
    Characters variant = characters;
    const std::size_t place = draws.one_of(letters);
    std::string& letter = variant[place];
    switch (draws.below(4)) {
      case 0:
        if (variant.size() > 1) variant.erase(variant.begin() + static_cast<std::ptrdiff_t>(place));
        break;
      case 1:
        letter += characters[place];
        break;
      case 2:
        if (place + 1 < variant.size()) std::swap(letter, variant[place + 1]);
        break;
      default:
        if (is_ascii_letter(letter)) letter = beside(letter, draws);
    }
    if (variant != characters) return joined(variant);  // two of a kind exchanged are no change
  }
}

std::string with_other_case(Characters characters, Draws& draws) {
  std::vector<std::size_t> letters = places(characters, is_ascii_letter);
  for (std::size_t left = std::min(draws.changes(), letters.size()); left > 0; --left) {
    const std::size_t chosen = draws.below(letters.size());
    characters[letters[chosen]] = other_case(characters[letters[chosen]]);
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return joined(characters);
}

std::string variant_of(const Characters& characters, std::string_view text, PromptFamily family,
                       Draws draws) {
  switch (family) {
    case PromptFamily::appended:
      return with_appended(text, kControls, draws);
    case PromptFamily::inserted:
      return with_inserted(characters, draws, [&] { return draws.below(kControls); });
    case PromptFamily::invisible:
      return with_inserted(characters, draws, [&] { return draws.one_of(kInvisible); });
    case PromptFamily::whitespace:
      return with_blanks(characters, draws);
    case PromptFamily::typing:
      return mistyped(characters, draws);
    case PromptFamily::letter_case:
      return with_other_case(characters, draws);
    case PromptFamily::utf8:
      return with_appended(text, kAscentPoints, draws);
  }
  return std::string(text);
}

}  // namespace

std::span<const PromptFamilyInfo> prompt_families() { return kFamilies; }

std::string_view family_name(PromptFamily family) { return kFamilies[static_cast<std::size_t>(family)].name; }

std::optional<PromptFamily> family_of(std::string_view name) {
  for (const PromptFamilyInfo& info : kFamilies)
    if (info.name == name) return info.family;
  return {};
}

std::vector<std::string> prompt_variants(std::string_view text, PromptFamily family, std::size_t count,
                                         std::uint64_t seed, std::size_t prompt) {
  const Characters characters = characters_of(text);
  if (family == PromptFamily::typing && places(characters, is_letter).empty()) return {};
  if (family == PromptFamily::letter_case && places(characters, is_ascii_letter).empty()) return {};
  std::vector<std::string> variants;
  variants.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t sample = (static_cast<std::uint64_t>(family) << kVariantBits) | i;
    variants.push_back(
        variant_of(characters, text, family,
                   Draws({.seed = seed, .stream = Stream::prompt, .row = prompt, .sample = sample})));
  }
  return variants;
}

}  // namespace harmonia
