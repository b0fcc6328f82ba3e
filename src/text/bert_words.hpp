#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// The words that BERT's uncased models see: control characters, accents and capitals are gone; every
/// punctuation mark and every Chinese character is a word of its own. The first `most` of them. Bytes that
/// are no UTF-8 are left out, as U+FFFD is.
/// As the reference tokenizer does it (Hugging Face `tokenizers`): with the character classes of Unicode 8.0
/// and the decompositions of Unicode 9.0, whatever is newer being a letter like any other.
std::vector<std::string> bert_words(std::string_view text, std::size_t most);

}  // namespace harmonia
