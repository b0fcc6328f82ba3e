#include "../../src/text/wordpiece.hpp"

#include <gtest/gtest.h>

#include "../../src/text/bert_words.hpp"
#include "support/expect_error.hpp"

namespace harmonia {
namespace {

using test::expect_error;

TEST(WordPieceFault, BytesThatAreNoUtf8AreLeftOut) {
  const auto words = [](std::string_view text) { return bert_words(text, 100); };
  const std::vector<std::string> expected{"ab", "c"};
  EXPECT_EQ(words("a\xFF"
                  "b c\xC3"),
            expected);  // no byte of UTF-8, and half a character
  EXPECT_EQ(words("a\xED\xA0\x80"
                  "b c"),
            expected);  // a surrogate
  EXPECT_EQ(words("a\xC0\x80"
                  "b \xF8\x88\x80\x80\x80"
                  "c"),
            expected);  // too long, and five bytes
  EXPECT_EQ(words("a\xF4\x90\x80\x80"
                  "b c\x80"),
            expected);  // past the last character, and a stray byte
}

TEST(WordPieceFault, VocabulariesWithoutTheTokens) {
  expect_error(ErrorCode::input,
               "vocabulary v.txt has 0 lines and no [UNK]; expected a piece a line, [UNK], [CLS] and [SEP] "
               "among them",
               [] { WordPiece("", "v.txt"); });
  expect_error(ErrorCode::input,
               "vocabulary v.txt has 2 lines and no [CLS]; expected a piece a line, [UNK], [CLS] and [SEP] "
               "among them",
               [] { WordPiece("[UNK]\n[SEP]\n", "v.txt"); });
  EXPECT_THROW(WordPiece(std::string(1000, '\0'), "v.txt"), Error);
}

TEST(WordPieceFault, LongTexts) {
  const WordPiece pieces("[UNK]\n[CLS]\n[SEP]\na\n##a\n", "v.txt");
  const std::size_t million = 1000000;
  EXPECT_EQ(pieces.numbers(std::string(million, 'a'), 256), (std::vector<std::int64_t>{1, 0, 2}));
  std::string text;
  while (text.size() < million) text += "a\u0301 ";
  EXPECT_EQ(pieces.numbers(text, 256).size(), 256U);
  EXPECT_EQ(pieces.numbers(std::string(million, '['), 256).size(), 256U);
  std::string marks = "a";
  while (marks.size() < million) marks += "\u0301\u0316";  // a character with half a million accents
  EXPECT_EQ(pieces.numbers(marks, 256), (std::vector<std::int64_t>{1, 3, 2}));
}

}  // namespace
}  // namespace harmonia
