#include "harmonia/text/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "../core/json_kind.hpp"
#include "../data/csv_records.hpp"
#include "../data/json_text.hpp"
#include "../data/whole_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostMiB = 256;  // of a file of prompts
constexpr std::string_view kMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const std::string& path, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}, line {}: {}", path, line, what));
}

bool ends_with(std::string_view path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  return std::equal(ending.rbegin(), ending.rend(), path.rbegin(),
                    [](unsigned char a, unsigned char b) { return a == std::tolower(b); });
}

std::optional<bool> read_label(std::string_view text) {
  constexpr std::array<std::string_view, 4> kRight{"1", "true", "yes", "correct"};
  constexpr std::array<std::string_view, 4> kWrong{"0", "false", "no", "incorrect"};
  std::string word(trim(text));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(kRight.begin(), kRight.end(), word) != kRight.end()) return true;
  if (std::find(kWrong.begin(), kWrong.end(), word) != kWrong.end()) return false;
  return {};
}

// What a line says of one prompt, by the names of its columns; none for what it does not have.
template <class Field>
Prompt prompt_of(const std::string& path, std::size_t line, const PromptColumns& columns,
                 const Field& field) {
  Prompt prompt;
  const std::optional<std::string> text = field(columns.prompt);
  if (!text) fail(path, line, fmt::format("no {}", in_quotes(columns.prompt)));
  if (trim(*text).empty()) fail(path, line, "the prompt is empty");
  if (!is_utf8(*text)) fail(path, line, fmt::format("prompt {} is not UTF-8", in_quotes(*text)));
  prompt.text = *text;
  prompt.id = field(columns.id).value_or("");
  prompt.domain = field(columns.domain).value_or("");
  const auto given = [&](const std::string& column) -> std::optional<std::string> {
    if (column.empty()) return {};
    std::optional<std::string> value = field(column);
    if (!value) fail(path, line, fmt::format("no {}", in_quotes(column)));
    if (trim(*value).empty()) return {};  // a prompt that nobody judged
    return value;
  };
  if (const auto label = given(columns.labels)) {
    prompt.correct = read_label(*label);
    if (!prompt.correct) {
      fail(path, line,
           fmt::format("{} is {}; expected 1, true, yes or correct, or 0, false, no or incorrect",
                       columns.labels, in_quotes(*label)));
    }
  }
  if (const auto rating = given(columns.rating)) {
    prompt.rating = read_number(*rating);
    if (!prompt.rating || !std::isfinite(*prompt.rating))
      fail(path, line, fmt::format("{} is {}; expected a number", columns.rating, in_quotes(*rating)));
  }
  return prompt;
}

template <class Line>
void each_line(std::string_view text, const Line& take) {
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!trim(line).empty()) take(number, line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<Prompt> read_lines(const std::string& path, const PromptColumns& columns) {
  if (!columns.labels.empty() || !columns.rating.empty()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{} has one prompt a line and nothing else; expected .csv or .jsonl, which can have {}",
                    path, in_quotes(columns.labels.empty() ? columns.rating : columns.labels)));
  }
  std::vector<Prompt> prompts;
  each_line(read_whole_file(path, kMostMiB, "prompts"), [&](std::size_t number, std::string_view line) {
    prompts.push_back(prompt_of(path, number, columns, [&](const std::string& name) {
      return name == columns.prompt ? std::optional<std::string>(line) : std::nullopt;
    }));
  });
  return prompts;
}

std::vector<Prompt> read_json_lines(const std::string& path, const PromptColumns& columns) {
  std::vector<Prompt> prompts;
  each_line(read_whole_file(path, kMostMiB, "prompts"), [&](std::size_t number, std::string_view line) {
    const nlohmann::json object = parse_json(fmt::format("{}, line {}", path, number), std::string(line));
    if (!object.is_object())
      fail(path, number,
           fmt::format("{} instead of an object with {}", json_kind(object), in_quotes(columns.prompt)));
    prompts.push_back(
        prompt_of(path, number, columns, [&](const std::string& name) -> std::optional<std::string> {
          const auto found = object.find(name);
          if (found == object.end() || found->is_null()) return {};
          if (found->is_string()) return found->get<std::string>();
          if (name != columns.prompt && found->is_primitive()) return found->dump();
          fail(path, number, fmt::format("{} is {}; expected text", in_quotes(name), json_kind(*found)));
        }));
  });
  return prompts;
}

std::vector<Prompt> read_table(const std::string& path, const PromptColumns& columns) {
  CsvRecords records(path);
  if (!records.next()) return {};
  const std::vector<std::string> names(records.fields().begin(), records.fields().end());
  if (std::find(names.begin(), names.end(), columns.prompt) == names.end()) {
    throw Error(ErrorCode::input,
                fmt::format("{} has no column {}; the first line names {}", path, in_quotes(columns.prompt),
                            in_quotes(fmt::format("{}", fmt::join(names, ", ")))));
  }
  std::vector<Prompt> prompts;
  while (records.next()) {
    const auto& fields = records.fields();
    if (fields.size() != names.size()) {
      fail(
          path, records.line(),
          fmt::format("{}; expected {} as in the first line", counted(fields.size(), "field"), names.size()));
    }
    prompts.push_back(
        prompt_of(path, records.line(), columns, [&](const std::string& name) -> std::optional<std::string> {
          const auto found = std::find(names.begin(), names.end(), name);
          if (found == names.end()) return {};
          return std::string(fields[static_cast<std::size_t>(found - names.begin())]);
        }));
  }
  return prompts;
}

}  // namespace

std::vector<Prompt> read_prompts(const std::string& path, const PromptColumns& columns) {
  std::vector<Prompt> prompts = ends_with(path, ".csv")     ? read_table(path, columns)
                                : ends_with(path, ".jsonl") ? read_json_lines(path, columns)
                                                            : read_lines(path, columns);
  if (prompts.empty()) throw Error(ErrorCode::input, fmt::format("{} has no prompts", path));
  return prompts;
}

}  // namespace harmonia
