// Texts, of any bytes, as the tokens of an embedder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../src/text/bert_words.hpp"
#include "../../src/text/wordpiece.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using harmonia::fuzz::require;
  static const harmonia::WordPiece pieces(
      "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\ne\n##e\nae\n##aea\n!\n\xCE\xB1\n##"
      "\xCF\x83\n\xE4\xB8\x96\n",
      "fuzz");
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> words = harmonia::bert_words(text, size + 1);
  std::string joined;
  for (const std::string& word : words) {
    require(!word.empty() && word.find(' ') == std::string::npos);
    joined += word + ' ';
  }
  // Words are what they are: read again they stay so.
  require(harmonia::bert_words(joined, size + 1) == words);

  const std::vector<std::int64_t> all = pieces.numbers(text, 3 * size + 8), some = pieces.numbers(text, 8);
  require(all.size() >= 2 && all.front() == 2 && all.back() == 3);
  require(some.size() == std::min<std::size_t>(all.size(), 8) && some.back() == 3);
  require(std::equal(some.begin(), some.end() - 1, all.begin()));
  return 0;
}
