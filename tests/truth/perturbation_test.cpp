#include "harmonia/text/perturbation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr const char* kPrompt = "What is the capital of Österreich?";

std::vector<std::string> variants(const std::string& text, PromptFamily family, std::size_t count = 200) {
  return prompt_variants(text, family, count, 7, 3);
}

TEST(Perturbation, VariantsDependOnSeedFamilyPromptAndNumberAlone) {
  for (const PromptFamilyInfo& info : prompt_families()) {
    const auto many = prompt_variants(kPrompt, info.family, 20, 7, 3);
    const auto few = prompt_variants(kPrompt, info.family, 5, 7, 3);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin())) << info.name;
    EXPECT_NE(many, prompt_variants(kPrompt, info.family, 20, 8, 3)) << info.name;
    EXPECT_NE(many, prompt_variants(kPrompt, info.family, 20, 7, 4)) << info.name;
    EXPECT_EQ(family_of(info.name), info.family);
    EXPECT_EQ(family_name(info.family), info.name);
  }
  EXPECT_FALSE(family_of("poetry"));
}

TEST(Perturbation, EveryVariantIsAnotherTextInUtf8) {
  for (const PromptFamilyInfo& info : prompt_families()) {
    for (const std::string& text :
         {std::string(kPrompt), std::string("a"), std::string("aa"), std::string("日本語の首都は？x")}) {
      for (const std::string& variant : variants(text, info.family)) {
        EXPECT_NE(variant, text) << info.name;
        EXPECT_TRUE(is_utf8(variant)) << info.name << ": " << printable(variant);
        EXPECT_FALSE(variant.empty());
      }
    }
  }
}

TEST(Perturbation, AppendedIsTheAuthorsDraw) {
  // A blank, then 1 to 3 characters, each uniform in 0 to 31, NUL and line ends among them.
  std::map<std::size_t, int> lengths;
  std::map<char, int> seen;
  const std::size_t start = std::string(kPrompt).size() + 1;
  for (const std::string& variant : variants(kPrompt, PromptFamily::appended, 6000)) {
    EXPECT_EQ(variant.substr(0, start), std::string(kPrompt) + " ");
    ++lengths[variant.size() - start];
    for (const char c : variant.substr(start)) ++seen[c];
  }
  ASSERT_EQ(lengths.size(), 3U);
  for (const auto& [length, count] : lengths)
    EXPECT_NEAR(count, 2000, 5 * std::sqrt(6000 / 3. * 2 / 3)) << length;
  ASSERT_EQ(seen.size(), 32U);
  EXPECT_EQ(seen.begin()->first, 0);
  // Some 12,000 characters, 375 of each; 5 standard deviations.
  for (const auto& [c, count] : seen) EXPECT_NEAR(count, 375, 5 * std::sqrt(375.)) << int{c};
}

TEST(Perturbation, WhatIsInsertedCanBeTakenOutAgain) {
  const auto without = [](std::string text, const auto& unwanted) {
    std::string kept;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(character_length(rest))) {
      const std::string_view character = rest.substr(0, character_length(rest));
      if (!unwanted(character)) kept += character;
    }
    return kept;
  };
  for (const std::string& variant : variants(kPrompt, PromptFamily::inserted))
    EXPECT_EQ(without(variant, [](std::string_view c) { return static_cast<unsigned char>(c[0]) < 32; }),
              kPrompt);
  const std::set<std::string_view> hidden{"\u200B", "\u200C", "\u200D", "\u2060", "\uFEFF", "\u00AD"};
  for (const std::string& variant : variants(kPrompt, PromptFamily::invisible))
    EXPECT_EQ(without(variant, [&](std::string_view c) { return hidden.contains(c); }), kPrompt);
  const auto blank = [](std::string_view c) { return c == " " || c == "\t" || c == "\n"; };
  for (const std::string& variant : variants(kPrompt, PromptFamily::whitespace)) {
    EXPECT_EQ(without(variant, blank), without(kPrompt, blank));
    EXPECT_GT(variant.size(), std::string(kPrompt).size());
  }
}

TEST(Perturbation, TypingChangesOneLetterAndCaseNone) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
  };
  for (const std::string& variant : variants(kPrompt, PromptFamily::letter_case))
    EXPECT_EQ(lower(variant), lower(kPrompt));
  const std::string prompt = kPrompt;
  for (const std::string& variant : variants(kPrompt, PromptFamily::typing)) {
    // What is the same at both ends leaves at most two characters that differ.
    const auto front = static_cast<std::size_t>(
        std::mismatch(prompt.begin(), prompt.end(), variant.begin(), variant.end()).first - prompt.begin());
    const auto back = static_cast<std::size_t>(
        std::mismatch(prompt.rbegin(), prompt.rend(), variant.rbegin(), variant.rend()).first -
        prompt.rbegin());
    EXPECT_GE(front + back + 3, prompt.size()) << variant;
  }
}

TEST(Perturbation, APromptWithoutLettersHasNoneToChange) {
  EXPECT_TRUE(variants("2 + 2 = ?", PromptFamily::typing).empty());
  EXPECT_TRUE(variants("2 + 2 = ?", PromptFamily::letter_case).empty());
  EXPECT_EQ(variants("2 + 2 = ?", PromptFamily::appended).size(), 200U);
}

}  // namespace
}  // namespace harmonia
