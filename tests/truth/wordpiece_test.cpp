#include "../../src/text/wordpiece.hpp"

#include <gtest/gtest.h>

#include "../../src/text/bert_words.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kAll = 1000;

// 0 [PAD], 1 [UNK], 2 [CLS], 3 [SEP], 4 [MASK], 5 un, 6 ##aff, 7 ##able, 8 affable, 9 !, 10 α, 11 ##σ, 12
// ##affa
const std::string kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\naffable\n!\nα\n##σ\n##affa\n";

Words words(std::string_view text) { return bert_words(text, kAll); }

Numbers numbers(std::string_view text, std::size_t most = kAll) {
  return WordPiece(kVocabulary, "vocab.txt").numbers(text, most);
}

TEST(BertWords, CapitalsAccentsAndBlanksGo) {
  EXPECT_EQ(words("  Héllo\tWORLD\r\n"), (Words{"hello", "world"}));
  EXPECT_EQ(words("\u0130stanbul \u1E9E \u03A3"), (Words{"istanbul", "\u00DF", "\u03C3"}));  // İ, ẞ, Σ
  EXPECT_EQ(words("a\u00A0b\u3000c\u2028d"), (Words{"a", "b", "c", "d"}));
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(" \n "), Words{});
}

TEST(BertWords, PunctuationIsAWordOfItsOwn) {
  EXPECT_EQ(words("don't $5+x"), (Words{"don", "'", "t", "$", "5", "+", "x"}));
  EXPECT_EQ(words("a\u2014b\u00BFc\u037Ed"), (Words{"a", "\u2014", "b", "\u00BF", "c", ";", "d"}));
  EXPECT_EQ(words("1\u20AC2"), (Words{"1\u20AC2"}));  // a symbol past ASCII is none
}

TEST(BertWords, ChineseCharactersAreWords) {
  EXPECT_EQ(words("ab\u4E16\u754Cc"), (Words{"ab", "\u4E16", "\u754C", "c"}));
  EXPECT_EQ(words("\u3042\u3044"), (Words{"\u3042\u3044"}));  // Hiragana is not Chinese
  EXPECT_EQ(words("x\uF900y"), (Words{"x", "\u8C48", "y"}));  // of compatibility, decomposed
  EXPECT_EQ(words("x\U0002B820y"), (Words{"x\U0002B820y"}));  // in the hole
  EXPECT_EQ(words("\uD55C"), (Words{"\u1112\u1161\u11AB"}));  // Hangul, decomposed
}

TEST(BertWords, ControlAndInvisibleCharactersGo) {
  using namespace std::string_literals;
  EXPECT_EQ(words("a\0b\x01\x1f\x7f c\x0b\x0c"s), (Words{"ab", "c"}));
  EXPECT_EQ(words("a\u200Bb\u2060\uFEFF\u00AD\u0085c\uE000\uFFFD"), (Words{"abc"}));
}

TEST(BertWords, WhatUnicode8DidNotKnowIsALetter) {
  EXPECT_EQ(words("a\u0301b"), (Words{"ab"}));
  EXPECT_EQ(words("a\u08D4b"), (Words{"a\u08D4b"}));          // a mark of 9.0
  EXPECT_EQ(words("a\u2E43b"), (Words{"a\u2E43b"}));          // punctuation of 9.0
  EXPECT_EQ(words("a\u166Db"), (Words{"a", "\u166D", "b"}));  // punctuation then, a symbol today
  EXPECT_EQ(words("a\u1734b"), (Words{"ab"}));                // a mark that took no space, then
  EXPECT_EQ(words("a\u1885b"), (Words{"a\u1885b"}));          // a letter then, a mark today
}

TEST(BertWords, TheFirstOnes) {
  EXPECT_EQ(bert_words("a, b c", 2), (Words{"a", ","}));
  EXPECT_EQ(bert_words("a, b c", 0), Words{});
}

TEST(WordPiece, TheLongestPieceFirst) {
  EXPECT_EQ(numbers("affable!"), (Numbers{2, 8, 9, 3}));
  EXPECT_EQ(numbers("UNAFF"), (Numbers{2, 5, 6, 3}));
  // ##affa is longer than ##aff, and nothing continues it: greedy, so the word is unknown.
  EXPECT_EQ(numbers("unaffable"), (Numbers{2, 1, 3}));
  EXPECT_EQ(numbers("\u0391\u03A3"), (Numbers{2, 10, 11, 3}));
  EXPECT_EQ(numbers("unx un"), (Numbers{2, 1, 5, 3}));
}

TEST(WordPiece, AWordHasAHundredCharactersAtMost) {
  const std::string vocabulary = "[UNK]\n[CLS]\n[SEP]\n\u03C3\n##\u03C3\n";
  const WordPiece pieces(vocabulary, "vocab.txt");
  std::string word;
  for (int i = 0; i < 100; ++i) word += "\u03A3";
  EXPECT_EQ(pieces.numbers(word, kAll).size(), 102U);
  EXPECT_EQ(pieces.numbers(word + "\u03A3", kAll), (Numbers{1, 0, 2}));
}

TEST(WordPiece, SpecialTokensInATextAreThemselves) {
  EXPECT_EQ(numbers("[MASK]un[SEP][PAD] [UNK]!"), (Numbers{2, 4, 5, 3, 0, 1, 9, 3}));
  EXPECT_EQ(numbers("[CLS]"), (Numbers{2, 2, 3}));
  EXPECT_EQ(numbers("[mask]"), (Numbers{2, 1, 1, 1, 3}));
  EXPECT_EQ(numbers("[[SEP]"), (Numbers{2, 1, 3, 3}));
  EXPECT_EQ(numbers("[SEP"), (Numbers{2, 1, 1, 3}));
  // A vocabulary that has no [MASK] reads it as text.
  EXPECT_EQ(WordPiece("[UNK]\n[CLS]\n[SEP]\nmask\n", "v").numbers("[MASK]", kAll), (Numbers{1, 0, 3, 0, 2}));
}

TEST(WordPiece, TheEndIsCutOff) {
  EXPECT_EQ(numbers("un un un", 5), (Numbers{2, 5, 5, 5, 3}));
  EXPECT_EQ(numbers("un un un", 4), (Numbers{2, 5, 5, 3}));
  EXPECT_EQ(numbers("un[SEP]un", 4), (Numbers{2, 5, 3, 3}));
  EXPECT_EQ(numbers("unaff", 3), (Numbers{2, 5, 3}));
  EXPECT_EQ(numbers("un", 2), (Numbers{2, 3}));
  EXPECT_EQ(numbers(""), (Numbers{2, 3}));
}

TEST(WordPiece, AVocabularyOfWindows) {
  EXPECT_EQ(WordPiece("[UNK]\r\n[CLS]\r\n[SEP]\r\nun\r\n", "v").numbers("un", kAll), (Numbers{1, 3, 2}));
  EXPECT_EQ(WordPiece("[UNK]\n[CLS]\n[SEP]", "v").size(), 3U);
}

}  // namespace
}  // namespace harmonia
