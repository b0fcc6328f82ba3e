#include "harmonia/data/schema.hpp"

#include <gtest/gtest.h>

#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Schema, PlainSaysNothingButTheNames) {
  const Schema schema = plain_schema({"a", "b"});
  ASSERT_EQ(schema.size(), 2U);
  EXPECT_EQ(schema[1].name, "b");
  EXPECT_EQ(schema[1].scale, 1);
  EXPECT_FALSE(schema[1].bounded() || schema[1].integer || schema[1].fixed || schema[1].has_scale);
}

TEST(Schema, ReadsAFile) {
  const test::TemporaryFile file("schema.json", R"({"features": {
    "zip": {"categorical": true, "immutable": false}, "age": {"scale": 10, "bounds": [0, 120], "integer": true},
    "sex": {"immutable": true, "categorical": false}, "debt": {"bounds": [null, 0.5]}, "gain": {"bounds": [-1, null]},
    "free": {"bounds": [null, null]}, "same": {"bounds": [2, 2], "integer": false}, "": {}}})");
  const Schema schema =
      load_schema(file.path(), {"age", "zip", "sex", "debt", "gain", "free", "same", "other", ""});
  ASSERT_EQ(schema.size(), 9U);
  EXPECT_EQ(schema[0].name, "age");
  EXPECT_EQ(schema[0].scale, 10);
  EXPECT_EQ(schema[0].lower, 0);
  EXPECT_EQ(schema[0].upper, 120);
  EXPECT_TRUE(schema[0].integer && schema[0].has_scale && !schema[0].fixed && schema[0].bounded());
  EXPECT_TRUE(schema[1].fixed && !schema[1].has_scale);
  EXPECT_TRUE(schema[2].fixed);
  EXPECT_EQ(schema[3].lower, -kInfinity);
  EXPECT_EQ(schema[3].upper, 0.5);
  EXPECT_EQ(schema[4].lower, -1);
  EXPECT_EQ(schema[4].upper, kInfinity);
  EXPECT_FALSE(schema[5].bounded());
  EXPECT_TRUE(schema[6].lower == 2 && schema[6].upper == 2 && !schema[6].integer);
  EXPECT_EQ(schema[7].name, "other");
  EXPECT_FALSE(schema[7].bounded() || schema[7].fixed || schema[7].integer);
}

TEST(Schema, MayBeLong) {
  std::vector<std::string> names;
  std::string text = "{\"features\": {";
  for (int i = 0; i < 2000; ++i) {
    names.push_back(std::string(20, 'n').append(std::to_string(i)));
    text.append(i == 0 ? "\"" : ", \"")
        .append(names.back())
        .append("\": {\"scale\": ")
        .append(std::to_string(i + 1))
        .append("}");
  }
  const test::TemporaryFile file("schema.json", text + "}}");
  EXPECT_EQ(load_schema(file.path(), names)[1999].scale, 2000);
}

}  // namespace
}  // namespace harmonia
