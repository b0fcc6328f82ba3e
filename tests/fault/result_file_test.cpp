#include "harmonia/report/result_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

const std::string kHead = R"({"schema": "harmonia/1", "command": "gamma")";

// `message` stands behind the file's path.
void expect_fault(const std::string& text, const std::string& message,
                  const std::vector<std::string>& commands = {}) {
  const test::TemporaryFile file("result.json", text);
  test::expect_error(ErrorCode::input, file.path() + message,
                     [&] { result_command(read_result_file(file.path()), commands); });
}

TEST(ResultFileFault, Files) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::input, (folder / "no.json") + ": no such file",
                     [&] { read_result_file(folder / "no.json"); });
  test::expect_error(ErrorCode::input, (folder / "") + " is a directory; expected a result file",
                     [&] { read_result_file(folder / ""); });
}

TEST(ResultFileFault, NoResult) {
  const std::string expected = R"( is no result: expected {"schema": "harmonia/1", "command": …})";
  expect_fault("", " is empty; expected a result");
  expect_fault(" \n\t", " is empty; expected a result");
  expect_fault("row,gamma\n0,1\n", expected);
  expect_fault("[]", expected);
  expect_fault("{}", expected);
  expect_fault(R"({"features": {}})", expected);
}

TEST(ResultFileFault, Json) {
  expect_fault(kHead, " breaks off after 43 bytes; expected a whole result");
  expect_fault(kHead + ", \"rows\": [\n{\"row\": 0},\n",
               " breaks off after 67 bytes; expected a whole result");
  expect_fault(kHead + ",\n  rows: []}", " line 2, byte 3: not valid JSON");
  expect_fault(kHead + "} more", " line 1, byte 46: not valid JSON");
  expect_fault(kHead + ", \"a\xff\": 1}", " line 1, byte 48: not valid JSON");
  expect_fault(kHead + ", \"seconds\": 1e999}", " holds a number that is too large for a double");
  expect_fault(kHead + ", \"a\": " + std::string(100000, '['),
               " is nested deeper than 32 levels; no result is");
}

TEST(ResultFileFault, Frames) {
  expect_fault(R"({"schema": "harmonia/2", "command": "gamma"})",
               " has schema 'harmonia/2'; this version reads harmonia/1");
  expect_fault(R"({"schema": 1, "command": "gamma"})", ": schema is the number 1; expected a text");
  expect_fault(R"({"schema": "harmonia/1"})", " has no 'command'");
  expect_fault(R"({"schema": "harmonia/1", "command": null})", ": command is null; expected a text");
  expect_fault(kHead + "}", " is a result of 'gamma'; expected one of compare, sweep", {"compare", "sweep"});
  expect_fault(kHead + ", \"rows\": {}}", ": rows is an object; expected a list");
  expect_fault(kHead + ", \"rows\": [{}, 7]}", ": rows[1] is the number 7; expected an object");
  expect_fault(kHead + ", \"rows\": [[]]}", ": rows[0] is a list of 0; expected an object");
}

TEST(ResultFileFault, Confidence) {
  const auto with = [](const std::string& value) {
    return kHead + R"(, "options": {"confidence": )" + value + "}}";
  };
  for (const char* value : {"0", "1", "-0.5", "95"}) {
    expect_fault(with(value), fmt::format(": options.confidence is {}; expected between 0 and 1", value));
  }
  expect_fault(with("null"), ": options.confidence is null; expected a number");
  expect_fault(with("\"high\""), ": options.confidence is the text 'high'; expected a number");
  const test::TemporaryFile file("result.json", with("0.9"));
  EXPECT_EQ(result_command(read_result_file(file.path())), "gamma");
}

TEST(ResultFileFault, WhatIsRightIsRead) {
  const test::TemporaryFile file("result.json", kHead + ", \"rows\": [{\"row\": 0}]}\n");
  const ResultFile result = read_result_file(file.path());
  EXPECT_EQ(result.name, file.path());
  EXPECT_EQ(result_command(result), "gamma");
  EXPECT_EQ(result_command(result, {"compare", "gamma"}), "gamma");
}

}  // namespace
}  // namespace harmonia
