#include "harmonia/data/csv_source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "support/expect_error.hpp"
#include "support/temporary_file.hpp"

namespace harmonia {
namespace {

using namespace std::string_literals;

// Opens and reads everything; `message` stands behind the file's path.
void expect_fault(const std::string& text, const std::string& message, const DataOptions& options = {},
                  ErrorCode code = ErrorCode::input) {
  const test::TemporaryFile file("rows.csv", text);
  test::expect_error(code, file.path() + message, [&] {
    const auto source = open_csv(file.path(), options);
    RowBlock block;
    while (source->read(block, 2)) {
    }
  });
}

TEST(CsvFault, WhatIsNoNumber) {
  expect_fault("name,dog,age\n1,2,3\n4,5,abc\n", " line 3, column 2 (age): 'abc' is not a number");
  expect_fault("1,2\n3,1.5x\n", " line 2, column 1 (x1): '1.5x' is not a number");
  expect_fault("1,2\n3,0x10\n", " line 2, column 1 (x1): '0x10' is not a number");
  expect_fault("1,2\n3,+-1\n", " line 2, column 1 (x1): '+-1' is not a number");
  expect_fault("1,2\n3,+\n", " line 2, column 1 (x1): '+' is not a number");
  expect_fault("1,2\n3,1 2\n", " line 2, column 1 (x1): '1 2' is not a number");
  expect_fault("a;b\n1,5;2\n",
               " line 2, column 0 (a): '1,5' is not a number; columns of text are left out by --drop a");
  expect_fault("a,b\n1,\"2\n\"\n\"4\n\",x\n", " line 4, column 1 (b): 'x' is not a number");
}

TEST(CsvFault, WhatIsInfinite) {
  expect_fault("a,b\n1,inf\n", " line 2, column 1 (b): 'inf' is infinite");
  expect_fault("a,b\n1,-Infinity\n", " line 2, column 1 (b): '-Infinity' is infinite");
  expect_fault("a,b\n1,1e999\n", " line 2, column 1 (b): '1e999' is infinite");
  expect_fault("a,b\n1,+1E+400\n", " line 2, column 1 (b): '+1E+400' is infinite");
  expect_fault("inf,2\n", " line 1, column 0 (x0): 'inf' is infinite");
}

TEST(CsvFault, RaggedRows) {
  expect_fault("a,b,c,d\n1,2,3,4\n\n1,2,3\n", " line 4 has 3 fields; line 1 has 4");
  expect_fault("\n1,2\n3\n", " line 3 has 1 field; line 2 has 2");
  expect_fault("1,2\n3,4,\n", " line 2 has 3 fields; line 1 has 2");
}

TEST(CsvFault, NoRows) {
  expect_fault("", " is empty");
  expect_fault("\n \r\n\n", " has no rows");
  expect_fault("\xef\xbb\xbf", " has no rows");
  expect_fault("a,b\n", " has a header and no rows");
  expect_fault("a,b\n\n\n", " has a header and no rows");
}

TEST(CsvFault, Quotes) {
  expect_fault("a,b\n1,\"2\n3,4\n", " line 2 opens a quote that is never closed");
  expect_fault("a,b\n\"1\n\",\"2\n3,4\n", " line 3 opens a quote that is never closed");
  expect_fault("a,b\n1,\"2\"3\n", " line 2 has text after the closing quote of field 1");
}

TEST(CsvFault, ColumnsOfTextHaveTheirRemedy) {
  const std::string remedy = " is not a number; columns of text are left out by --drop ";
  expect_fault("id,city name,age\nA1,Paris,3\n", " line 2, column 0 (id): 'A1'" + remedy + "'id,city name'");
  expect_fault("age,\"a,b\",c\n3,x,y\n", " line 2, column 1 (a,b): 'x'" + remedy + "1,c");
  expect_fault("age,city,c\n3,x,y\n", " line 2, column 1 (city): 'x'" + remedy + "city", {.drop = {"c"}});
  // What comes later is a slip in a column of numbers, and of texts alone nothing would be left.
  expect_fault("age,city\n3,1\n4,x\n", " line 3, column 1 (city): 'x' is not a number");
  expect_fault("age,city\nx,y\n", " line 2, column 0 (age): 'x' is not a number");
}

TEST(CsvFault, Garbage) {
  expect_fault(
      "a,b\n1,\x01\xff\0z\n"s,
      " line 2, column 1 (b): '\\x01\\xff\\x00z' is not a number; columns of text are left out by --drop b");
  expect_fault("\0\0\0\n\0\0\0\n"s, " line 2, column 0 (\\x00\\x00\\x00): '\\x00\\x00\\x00' is not a number");
  expect_fault("a,b\n1,\xc3\xa9\xed\xa0\x80\n",
               " line 2, column 1 (b): '\xc3\xa9\\xed\\xa0\\x80' is not a number; columns of text are left "
               "out by --drop b");
  expect_fault("a\n" + std::string(1000, 'y') + "\n",
               " line 2, column 0 (a): '" + std::string(60, 'y') + "…' is not a number");
  expect_fault(
      "\xff\xfe"
      "1\0,\0"
      "2\0"s,
      " is UTF-16 text; expected UTF-8");
}

TEST(CsvFault, TooLongARecord) {
  const test::TemporaryFile file("rows.csv", "a\n\"");
  ASSERT_EQ(::truncate(file.path().c_str(), off_t{257} << 20U), 0);
  test::expect_error(ErrorCode::input, file.path() + " line 2 is longer than 256 MiB",
                     [&] { open_csv(file.path(), {}); });
}

TEST(CsvFault, TooManyFields) {
  expect_fault(std::string((std::size_t{1} << 24U) + 1, ','), " line 1 has more than 16777216 fields");
}

TEST(CsvFault, Columns) {
  const std::string text = "id,a,b,a\n1,2,3,4\n";
  const auto usage = [&](const std::string& message, const DataOptions& options) {
    const test::TemporaryFile file("rows.csv", text);
    test::expect_error(ErrorCode::usage, message.starts_with(" ") ? file.path() + message : message,
                       [&] { open_csv(file.path(), options); });
  };
  usage(" has no column 'c'; it has id, a, b, a", {.columns = {"c"}});
  usage(" has no column '4'; it has id, a, b, a", {.drop = {"4"}});
  usage(" has no column '99999999999999999999999'; it has id, a, b, a", {.id = "99999999999999999999999"});
  usage(" has no column '-1'; it has id, a, b, a", {.label = "-1"});
  usage(" has 2 columns named 'a' (numbers 1 and 3); give a number", {.columns = {"a"}});
  usage("column 'id' is both in --columns and --id", {.columns = {"b", "id"}, .id = "id"});
  usage("column '0' is both in --columns and --label", {.columns = {"id"}, .label = "0"});
  usage("column '2' is both in --columns and in --drop", {.columns = {"b"}, .drop = {"2"}});
  usage("column '2' is twice in --columns", {.columns = {"b", "2"}});
  usage(" has no columns left for the model; it has id, a, b, a", {.drop = {"1", "b", "3"}, .id = "id"});
  expect_fault("a,b,c,d,e,f,g,h,i,j\n", " has no column 'z'; it has a, b, c, d, e, f, g, h, … (10 in all)",
               {.columns = {"z"}}, ErrorCode::usage);
  expect_fault("1,2\n", " has no column 'z'; it has x0, x1", {.columns = {"z"}}, ErrorCode::usage);
}

TEST(CsvFault, NoFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "rows.csv";
  test::expect_error(ErrorCode::input, path + ": no such file", [&] { open_csv(path, {}); });
  std::filesystem::create_directory(path);
  test::expect_error(ErrorCode::input, path + " is a directory; expected a file",
                     [&] { open_csv(path, {}); });
  const std::string secret = folder / "secret.csv";
  std::ofstream(secret) << "1\n";
  ASSERT_EQ(::chmod(secret.c_str(), 0), 0);
  if (::geteuid() == 0) return;  // root may read everything
  test::expect_error(ErrorCode::input, secret + ": Permission denied", [&] { open_csv(secret, {}); });
}

TEST(CsvFault, APipeIsReadOnce) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::jthread writer([&] { std::ofstream(path) << "a,b\n1,2\n"; });
  const auto source = open_csv(path, {});
  RowBlock block;
  ASSERT_TRUE(source->read(block, 10));
  EXPECT_EQ(block.values.row(0)[1], 2);
  test::expect_error(ErrorCode::input, path + " is a pipe; it cannot be read twice",
                     [&] { source->rewind(); });
}

}  // namespace
}  // namespace harmonia
