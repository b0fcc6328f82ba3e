#include "harmonia/monitor/row_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace harmonia {
namespace {

using test::expect_error;
using Values = std::vector<double>;

const std::vector<std::string> kFeatures{"alcohol", "ash", "hue"};

// What a line comes to: its values and id in words, or why it is no row.
std::string read(RowReader& reader, const std::string& line) {
  ReadRow row;
  switch (reader.read(line, row)) {
    case LineKind::header:
      return "header";
    case LineKind::blank:
      return "blank";
    case LineKind::refused:
      return row.reason;
    case LineKind::row:
      break;
  }
  std::string text;
  for (const double value : row.values)
    text += (std::isnan(value) ? "-" : std::to_string(value).substr(0, 3)) + " ";
  return text + row.id;
}

TEST(RowReader, ReadsCsvWithAHeaderInAnyOrder) {
  RowReader reader(kFeatures);
  EXPECT_EQ(read(reader, "\xef\xbb\xbfhue;id;who;alcohol;ash\r"), "header");
  EXPECT_EQ(read(reader, "3;a;x,y;1;2\r"), "1.0 2.0 3.0 a");
  EXPECT_EQ(read(reader, "  "), "blank");
  EXPECT_EQ(read(reader, ";\"b \"\"c\"\"\";;NA;2"), "- 2.0 - b \"c\"");
  EXPECT_EQ(read(reader, "3;a;x;1"), "it has 4 fields; expected 5");
  EXPECT_EQ(read(reader, "3;a;x;high;2"), "'alcohol' is 'high'; expected a finite number");
  EXPECT_EQ(read(reader, "3;a;x;1;inf"), "'ash' is 'inf'; expected a finite number");
  EXPECT_EQ(read(reader, "3;\"a;x;1;2"), "field 1 opens a quote that is never closed");
  EXPECT_EQ(read(reader, "3;\"a\"b;x;1;2"), "text after the closing quote of field 1");
}

TEST(RowReader, ReadsCsvWithoutAHeader) {
  RowReader reader(kFeatures);
  EXPECT_EQ(read(reader, "1,2,3"), "1.0 2.0 3.0 ");
  EXPECT_EQ(read(reader, "1\t2\t3"), "1.0 2.0 3.0 ");
  EXPECT_EQ(read(reader, "alcohol,ash,hue"), "'alcohol' is 'alcohol'; expected a finite number");
  reader.start_over();
  EXPECT_EQ(read(reader, "ash,alcohol,hue"), "header");
  EXPECT_EQ(read(reader, "1,2,3"), "2.0 1.0 3.0 ");
  RowReader without(kFeatures, {.header = false});
  EXPECT_EQ(read(without, "alcohol,ash,hue"), "'alcohol' is 'alcohol'; expected a finite number");
}

TEST(RowReader, ReadsJsonLines) {
  RowReader reader(kFeatures);
  EXPECT_EQ(read(reader, R"({"hue": 3, "alcohol": 1.5, "more": {"hue": [4]}, "id": "ä", "ash": null})"),
            "1.5 - 3.0 ä");
  EXPECT_EQ(read(reader, R"( [1, null, -3e0] )"), "1.0 - -3. ");
  EXPECT_EQ(read(reader, R"({"alcohol": 1, "ash": 2, "hue": 3, "id": 12345})"), "1.0 2.0 3.0 12345");
  EXPECT_EQ(read(reader, R"({"alcohol": 1, "hue": 3})"), "it has no 'ash'; a missing value is null");
  EXPECT_EQ(read(reader, R"({"alcohol": 1, "hue": 3, "hue": 4, "ash": 0})"), "'hue' is given twice");
  EXPECT_EQ(read(reader, R"({"alcohol": "1", "hue": 3, "ash": 0})"),
            "'alcohol' is the text '1'; expected a number or null");
  EXPECT_EQ(read(reader, R"({"alcohol": true, "hue": 3, "ash": 0})"),
            "'alcohol' is true; expected a number or null");
  EXPECT_EQ(read(reader, R"({"alcohol": 1, "hue": {"alcohol": 2}, "ash": 0})"),
            "'hue' is an object; expected a number or null");
  EXPECT_EQ(read(reader, R"([1, 2])"), "it has 2 values; expected 3");
  EXPECT_EQ(read(reader, R"([1, 2, 3, 4])"), "it has 4 values; expected 3");
  EXPECT_EQ(read(reader, R"([1, [2], 3])"), "'ash' is a list; expected a number or null");
  EXPECT_EQ(read(reader, R"([1, 2, 1e999])"), "it holds a number that is too large for a double");
  EXPECT_EQ(read(reader, R"({"alcohol": 1,)"), "byte 15: not valid JSON");
  EXPECT_EQ(read(reader, R"({"alcohol": 1, "ash": 2, "hue": 3, "id": [1]})"),
            "the id is a list; expected a text or a number");
  // A row that was refused leaves nothing behind.
  EXPECT_EQ(read(reader, "[1, 2, 3]"), "1.0 2.0 3.0 ");
}

TEST(RowReader, AFormThatWasAskedForIsTheOnlyOne) {
  RowReader json(kFeatures, {.form = RowForm::json});
  EXPECT_EQ(read(json, "3"), "it is the number 3; expected an object or a list");
  EXPECT_EQ(read(json, "x,2,3"), "byte 1: not valid JSON");
  RowReader csv(kFeatures, {.form = RowForm::csv});
  EXPECT_EQ(read(csv, "1,2,3"), "1.0 2.0 3.0 ");
  EXPECT_EQ(read(csv, "[1,2,3]"), "'alcohol' is '[1'; expected a finite number");
}

TEST(RowReader, AHeaderHasToNameEveryFeatureOnce) {
  RowReader reader(kFeatures, {.name = "rows.csv"});
  ReadRow row;
  expect_error(ErrorCode::input, "rows.csv: the header 'alcohol,hue' names no column 'ash'",
               [&] { reader.read("alcohol,hue", row); });
  reader.start_over();
  expect_error(ErrorCode::input, "rows.csv: the header 'a,b,c' names no column 'alcohol'",
               [&] { reader.read("a,b,c", row); });
  reader.start_over();
  expect_error(ErrorCode::input, "rows.csv: the header names the column 'hue' twice",
               [&] { reader.read("alcohol,hue,hue,ash", row); });
}

TEST(RowReader, ReadsAWholeBody) {
  RowReader reader(kFeatures, {.name = "the body"});
  const StreamBatch batch = reader.read_all(
      R"({"source": {"rows": 7}, "ids": ["a", 2, "c", "d"],
          "rows": [[1, 2, 3], {"ash": 5, "alcohol": 4, "hue": null}, 7, [8, 9]]})");
  EXPECT_EQ(batch.next, 4U);
  ASSERT_EQ(batch.rows.values.rows(), 2U);
  EXPECT_EQ(batch.rows.values.row(1)[0], 4);
  EXPECT_TRUE(std::isnan(batch.rows.values.row(1)[2]));
  EXPECT_EQ(batch.rows.ids, (std::vector<std::string>{"a", "2"}));
  ASSERT_EQ(batch.refused.size(), 2U);
  EXPECT_EQ(batch.refused[0].position, 2U);
  EXPECT_EQ(batch.refused[0].reason, "it is the number 7; expected an object or a list");
  EXPECT_EQ(batch.refused[1].reason, "it has 2 values; expected 3");

  const StreamBatch lines = reader.read_all("{\"alcohol\":1,\"ash\":2,\"hue\":3}\n\n[4,5]\n[7,8,9]\n");
  EXPECT_EQ(lines.next, 3U);
  ASSERT_EQ(lines.rows.values.rows(), 2U);
  EXPECT_EQ(lines.rows.number(1), 2U);
  EXPECT_TRUE(lines.rows.ids.empty());
  const StreamBatch csv = reader.read_all("hue,ash,alcohol,id\n3,2,1,x\n");
  ASSERT_EQ(csv.rows.values.rows(), 1U);
  EXPECT_EQ(csv.rows.values.row(0)[0], 1);
  EXPECT_EQ(csv.rows.ids, std::vector<std::string>{"x"});

  const auto refuse = [&](const std::string& body, const std::string& why) {
    expect_error(ErrorCode::input, "the body: " + why, [&] { reader.read_all(body); });
  };
  refuse("", "there are none");
  refuse(R"({"rows": []})", "there are none");
  refuse(R"({"rows": [[1, 2, 3])", "byte 20: not valid JSON");
  refuse(R"({"rows": [[1, 2, 3]], "ids": []} [)", "byte 34: not valid JSON");
  refuse(R"({"rows": [[1, 2, 3]], "ids": ["a", "b"]})", "'ids' has 2; expected 1, one a row");
  refuse(R"({"rows": [[1, 2, 3]], "ids": "a"})", "'ids' is the text 'a'; expected a list");
  refuse(R"({"rows": [[1, 2, 3]], "rows": []})", "'rows' is given twice");
}

TEST(RowReader, WhatIsTooLongIsRefused) {
  RowReader reader(kFeatures);
  EXPECT_EQ(read(reader, "1,2," + std::string(RowReader::kLongestLine, '3')), "it is longer than 16 MiB");
  EXPECT_EQ(
      read(reader, R"({"alcohol":1,"ash":2,"hue":3,"id":")" + std::string(257, 'x') + "\"}").substr(0, 17),
      "the id is the tex");
  // Brackets without an end take no more of the stack.
  EXPECT_EQ(read(reader, std::string(1U << 20, '[')), "byte 1048577: not valid JSON");
  // Reasons take more memory than the lines they are of.
  std::string lines = "1,2,3\n";
  for (std::size_t i = 0; i < RowReader::kMostRefused; ++i) lines += "x\n";
  EXPECT_EQ(reader.read_all(lines).refused.size(), RowReader::kMostRefused);
  expect_error(ErrorCode::input,
               "the rows: more than 10000 of them are none; number 10001: it has 1 field; expected 3",
               [&] { reader.read_all(lines + "x\n"); });
}

}  // namespace
}  // namespace harmonia
