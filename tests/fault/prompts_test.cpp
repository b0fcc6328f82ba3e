#include "harmonia/text/prompts.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using test::expect_error;
using test::TemporaryFile;

std::vector<std::string> texts(const std::vector<Prompt>& prompts) {
  std::vector<std::string> all;
  for (const Prompt& prompt : prompts) all.push_back(prompt.text);
  return all;
}

TEST(Prompts, LinesAreReadWithTheirBlanksAndWithoutEmptyOnes) {
  const TemporaryFile file("prompts.txt", "\xEF\xBB\xBFOne?\r\n\n  Two, \xC3\xA9?\n\t\nThree?");
  EXPECT_EQ(texts(read_prompts(file.path(), {})),
            (std::vector<std::string>{"One?", "  Two, \xC3\xA9?", "Three?"}));
}

TEST(Prompts, TablesAndJsonLinesCarryWhatIsKnown) {
  const TemporaryFile table(
      "prompts.csv", "id,prompt,domain,right,stars\n7,\"One, or\ntwo?\",facts,yes,4.5\n8,Three?,,0,\n");
  const TemporaryFile lines(
      "prompts.jsonl",
      R"({"id": 7, "prompt": "One, or\ntwo?", "domain": "facts", "right": true, "stars": 4.5})"
      "\n\n"
      R"({"id": "8", "prompt": "Three?", "right": 0, "stars": null, "more": [1]})"
      "\n");
  PromptColumns columns;
  columns.labels = "right";
  columns.rating = "stars";
  const std::vector<Prompt> read = read_prompts(table.path(), columns);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].text, "One, or\ntwo?");
  EXPECT_EQ(read[0].id, "7");
  EXPECT_EQ(read[0].domain, "facts");
  EXPECT_EQ(read[0].correct, true);
  EXPECT_EQ(read[0].rating, 4.5);
  EXPECT_EQ(read[1].correct, false);
  EXPECT_FALSE(read[1].rating);
  expect_error(ErrorCode::input, lines.path() + ", line 3: no 'stars'",
               [&] { read_prompts(lines.path(), columns); });
  columns.rating.clear();
  EXPECT_EQ(read_prompts(lines.path(), columns)[0].id, "7");
}

TEST(Prompts, WhatCannotBeReadIsSaidWithItsLine) {
  const auto refused = [](const std::string& name, const std::string& bytes, const std::string& message,
                          const PromptColumns& columns = {}) {
    const TemporaryFile file(name, bytes);
    expect_error(ErrorCode::input, file.path() + message, [&] { read_prompts(file.path(), columns); });
  };
  PromptColumns labelled;
  labelled.labels = "right";
  refused("a.txt", "", " has no prompts");
  refused("a.txt", "\n \n", " has no prompts");
  refused("a.txt", "fine\n\xFF\xFE\n", ", line 2: prompt '\\xff\\xfe' is not UTF-8");
  refused("a.csv", "question\nWho?\n", " has no column 'prompt'; the first line names 'question'");
  refused("a.csv", "prompt,id\nWho?\n", ", line 2: 1 field; expected 2 as in the first line");
  refused("a.csv", "prompt,id\n,1\n", ", line 2: the prompt is empty");
  refused("a.csv", "prompt,right\nWho?,maybe\n",
          ", line 2: right is 'maybe'; expected 1, true, yes or correct, or 0, false, no or incorrect",
          labelled);
  refused("a.csv", "prompt\nWho?\n", ", line 2: no 'right'", labelled);
  refused("a.jsonl", "[1]\n", ", line 1: a list of 1 instead of an object with 'prompt'");
  refused("a.jsonl", "{\"prompt\": 3}\n", ", line 1: 'prompt' is the number 3; expected text");
  refused("a.jsonl", "{\"text\": \"Who?\"}\n", ", line 1: no 'prompt'");
  const TemporaryFile plain("a.txt", "Who?\n");
  expect_error(ErrorCode::usage,
               plain.path() +
                   " has one prompt a line and nothing else; expected .csv or .jsonl, which can have 'right'",
               [&] { read_prompts(plain.path(), labelled); });
}

}  // namespace
}  // namespace harmonia
