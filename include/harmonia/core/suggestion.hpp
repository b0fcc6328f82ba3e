#pragma once

#include <span>
#include <string>
#include <string_view>

/// What a message proposes to do instead.
namespace harmonia {

/// The text as one word of a shell's command line: as it is if that is a word, otherwise in quotes.
std::string shell_word(std::string_view text);

/// Names in one word, as options take them that split a list at its commas.
std::string shell_list(std::span<const std::string> names);

/// The name that is least letters away from a text, of those that a slip of the keys or an abbreviation may
/// have come from; empty: none is.
std::string nearest_name(std::string_view text, std::span<const std::string> names);

}  // namespace harmonia
