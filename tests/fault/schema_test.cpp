#include "harmonia/data/schema.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

// `message` stands behind the file's path.
void expect_fault(const std::string& text, const std::string& message,
                  const std::vector<std::string>& names = {"age", "zip"}) {
  const test::TemporaryFile file("schema.json", text);
  test::expect_error(ErrorCode::input, file.path() + message, [&] { load_schema(file.path(), names); });
}

void expect_age_fault(const std::string& feature, const std::string& message) {
  expect_fault("{\"features\": {\"age\": " + feature + "}}", ": feature 'age': " + message);
}

TEST(SchemaFault, Files) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::input, (folder / "no.json") + ": no such file",
                     [&] { load_schema(folder / "no.json", {}); });
  test::expect_error(ErrorCode::input, (folder / "") + " is a directory; expected a file",
                     [&] { load_schema(folder / "", {}); });
  const std::string large = folder / "large.json";
  std::ofstream(large) << "{";
  std::filesystem::resize_file(large, std::uintmax_t{200} << 20U);
  test::expect_error(ErrorCode::input, large + " is longer than 64 MiB; expected a schema",
                     [&] { load_schema(large, {}); });
}

TEST(SchemaFault, Json) {
  expect_fault("", " line 1, byte 1: not valid JSON");
  expect_fault("{\"features\": {\n  \"age\": {scale: 1}}}", " line 2, byte 11: not valid JSON");
  expect_fault("{\"features\": {}", " line 1, byte 16: not valid JSON");
  expect_fault("{\"features\": {}}\n}", " line 2, byte 1: not valid JSON");
  expect_fault("{\"a\xff\": 1}", " line 1, byte 4: not valid JSON");
  expect_fault("{\"features\": {\"age\": {\"scale\": 1e999}}}",
               " holds a number that is too large for a double");
}

TEST(SchemaFault, Frames) {
  const std::string expected = R"(: expected {"features": {NAME: {…}, …}})";
  expect_fault("[]", expected);
  expect_fault("{}", expected);
  expect_fault("{\"features\": []}", expected);
  expect_fault("{\"features\": {}, \"version\": 1}", ": 'version' is not known; expected features alone");
  expect_fault("{\"features\": {}, \"features\": {}}", ": 'features' is given twice");
  expect_fault("{\"features\": {\"age\": {}, \"age\": {}}}", ": 'age' is given twice");
  expect_fault("{\"features\": {\"age\": {\"scale\": 1, \"scale\": 2}}}", ": 'scale' is given twice");
}

TEST(SchemaFault, Names) {
  expect_fault("{\"features\": {\"agee\": {}}}", ": the data has no feature 'agee'; it has age, zip");
  expect_fault("{\"features\": {\"age\": {}}}",
               ": the data has 2 features named 'age'; which is meant is not clear", {"age", "zip", "age"});
}

TEST(SchemaFault, Features) {
  expect_age_fault("null", "found null; expected an object");
  expect_age_fault("[1]", "found a list of 1; expected an object");
  expect_age_fault("{\"scales\": 1}",
                   "'scales' is not known; known are scale, bounds, integer, categorical and immutable");
  expect_age_fault("{\"scale\": \"1\"}", "scale is the text '1'; expected a number");
  expect_age_fault("{\"scale\": 0}", "scale is 0; expected more than 0");
  expect_age_fault("{\"scale\": -2.5}", "scale is -2.5; expected more than 0");
  expect_age_fault("{\"integer\": 1}", "integer is the number 1; expected true or false");
  expect_age_fault("{\"categorical\": null}", "categorical is null; expected true or false");
  expect_age_fault("{\"immutable\": {}}", "immutable is an object; expected true or false");
  expect_age_fault("{\"bounds\": true}", "bounds is true; expected [LOWER, UPPER]");
  expect_age_fault("{\"bounds\": [1, 2, 3]}", "bounds is a list of 3; expected [LOWER, UPPER]");
  expect_age_fault("{\"bounds\": [\"a\", 2]}", "the lower bound is the text 'a'; expected a number");
  expect_age_fault("{\"bounds\": [1, false]}", "the upper bound is false; expected a number");
  expect_age_fault("{\"bounds\": [3, 2.5]}", "bounds are 3 and 2.5; expected the lower one first");
}

}  // namespace
}  // namespace harmonia
