#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// Ways to change a prompt by little. Each makes a ball of its own, and is reported apart from the others.
enum class PromptFamily {
  appended,     ///< a blank and 1 to 3 control characters after the prompt, as the paper's authors do
  inserted,     ///< 1 to 3 control characters anywhere
  invisible,    ///< 1 to 3 zero-width characters anywhere
  whitespace,   ///< 1 to 3 more blanks, tabs or line ends where there is one, or at an end
  typing,       ///< one letter left out, doubled, exchanged with its neighbour, or hit beside it
  letter_case,  ///< 1 to 3 letters in the other case
  utf8,  ///< a blank and 1 to 3 characters with code points 0 to 500 after the prompt, as in the authors'
         ///< ascent
};

/// What is known of every family.
struct PromptFamilyInfo {
  PromptFamily family;
  std::string_view name;     ///< that options and results use
  std::string_view meaning;  ///< in a line
};
/// All of them, the authors' own first.
std::span<const PromptFamilyInfo> prompt_families();
/// The name that results use.
std::string_view family_name(PromptFamily family);
/// None if there is no such family.
std::optional<PromptFamily> family_of(std::string_view name);

/// Variants of prompt number `prompt`: each is a function of (seed, family, prompt, its own number) alone, so
/// that more of them leave the first ones as they were. Code points stay whole: variants of UTF-8 are UTF-8.
/// A prompt without letters has no variants of `typing` and `letter_case`: the list is empty.
std::vector<std::string> prompt_variants(std::string_view text, PromptFamily family, std::size_t count,
                                         std::uint64_t seed, std::size_t prompt);

}  // namespace harmonia
