#include "harmonia/monitor/text_stream.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

using namespace std::chrono_literals;
using test::expect_error;

const std::vector<std::string> kFeatures{"a", "b"};

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

// Rows by "position:first value", refused ones by "position!", of all batches until none comes.
struct Taken {
  std::string text;
  StreamPositions positions;
  Arrival last = Arrival::nothing;
  StreamMarks marks{};
};

Taken take(RowStream& stream, const StreamPositions& kept = {}, std::chrono::milliseconds wait = 200ms) {
  Taken taken{"", kept, Arrival::nothing};
  StreamBatch batch;
  while ((taken.last = stream.next(batch, wait)) == Arrival::rows) {
    const auto found = taken.positions.find(batch.partition);
    EXPECT_EQ(batch.first, found == taken.positions.end() ? 0 : found->second);
    for (std::size_t i = 0; i < batch.rows.values.rows(); ++i)
      taken.text += std::to_string(batch.rows.number(i)) + ":" +
                    std::to_string(static_cast<int>(batch.rows.values.row(i)[0])) + " ";
    for (const RefusedRow& refused : batch.refused) taken.text += std::to_string(refused.position) + "! ";
    EXPECT_EQ(batch.next - batch.first, batch.rows.values.rows() + batch.refused.size());
    taken.positions[batch.partition] = batch.next;
    taken.marks[batch.partition] = batch.mark;
    stream.kept(batch, true);
  }
  return taken;
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end() const { return ends_[0]; }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(InputStream, GivesRowsAsTheyComeAndEnds) {
  Pipe pipe;
  const auto stream = open_input_stream(pipe.end(), "standard input", kFeatures, {});
  stream->start({});
  EXPECT_EQ(take(*stream, {}, 10ms).last, Arrival::nothing);
  pipe.write("a,b\n1,2\n3,");
  EXPECT_EQ(take(*stream).text, "0:1 ");
  pipe.write("4\nno row\n5,6\n7,8");
  EXPECT_EQ(take(*stream, {{"0", 1}}).text, "1:3 3:5 2! ");
  pipe.close();
  const Taken rest = take(*stream, {{"0", 4}});
  EXPECT_EQ(rest.text, "4:7 ");
  EXPECT_EQ(rest.last, Arrival::end);
}

TEST(InputStream, GoesOnAfterWhatIsKeptAndSaysWhatMayBeLost) {
  Pipe pipe;
  std::string said;
  const auto stream =
      open_input_stream(pipe.end(), "standard input", kFeatures, {.note = [&](auto& text) { said += text; }});
  stream->start({{"0", 100}});
  EXPECT_EQ(said,
            "standard input cannot be read again: its rows are numbered from 100 on, and rows that were read "
            "before and not kept are lost; how many is not known");
  pipe.write("[1, 2]\n");
  pipe.close();
  EXPECT_EQ(take(*stream, {{"0", 100}}).text, "100:1 ");
}

TEST(InputStream, ALineThatIsTooLongIsOneRefusedRow) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows", std::string(40U << 20, '1') + "\n1,2\n");
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  const auto stream = open_input_stream(::fileno(file), "standard input", kFeatures, {});
  stream->start({});
  EXPECT_EQ(take(*stream).text, "1:1 0! ");
  std::fclose(file);
}

TEST(GrowingFile, GoesOnWhereItWasWhenItIsStartedAgain) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows.csv", "b,a\n\n1,10\nbroken\n2,20\n");
  Taken before;
  {
    const auto stream = open_growing_file(path, kFeatures, {});
    stream->start({});
    before = take(*stream);
    EXPECT_EQ(before.text, "0:10 2:20 1! ");
    append(path, "3,3");  // not yet a line
    EXPECT_EQ(take(*stream, before.positions).text, "");
    append(path, "0\n4,40\n");
    EXPECT_EQ(take(*stream, before.positions).text, "3:30 4:40 ");
  }
  // The last two were not kept: they come again, and nothing else does.
  const auto again = open_growing_file(path, kFeatures, {});
  again->start(before.positions);
  EXPECT_EQ(take(*again, before.positions).text, "3:30 4:40 ");
}

TEST(GrowingFile, EndsWhereTheFileDoesIfItIsNotFollowed) {
  const test::TemporaryFolder folder;
  std::string rows;
  std::string expected;
  for (int i = 0; i < 10000; ++i) {
    rows += std::to_string(i) + ",0\n";
    if (i >= 5000) expected += std::to_string(i) + ":" + std::to_string(i) + " ";
  }
  rows.pop_back();  // the last line has no end
  const std::string path = folder.write("rows.csv", rows);
  const auto whole = open_growing_file(path, kFeatures, {.follow = false});
  whole->start({});
  const Taken all = take(*whole);
  EXPECT_EQ(all.last, Arrival::end);
  ASSERT_EQ(all.positions.size(), 1U);
  EXPECT_EQ(all.positions.begin()->second, 10000U);
  StreamPositions half = all.positions;
  half.begin()->second = 5000;
  const auto rest = open_growing_file(path, kFeatures, {.follow = false});
  rest->start(half);
  EXPECT_EQ(take(*rest, half).text, expected);

  const auto absent = open_growing_file(path + ".none", kFeatures, {.follow = false});
  absent->start({});
  expect_error(ErrorCode::input, path + ".none: no such file", [&] { take(*absent); });
}

TEST(GrowingFile, ReadsTheOldFileToItsEndAndThenTheNewOne) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("rows.csv");
  std::string said;
  const auto stream = open_growing_file(path, kFeatures, {.note = [&](auto& text) { said += text + "\n"; }});
  stream->start({});
  EXPECT_EQ(take(*stream, {}, 1ms).last, Arrival::nothing);
  EXPECT_EQ(said, "waiting for " + path + ": there is no such file\n");
  append(path, "a,b\n1,1\n");
  const Taken first = take(*stream);
  EXPECT_EQ(first.text, "0:1 ");
  append(path, "2,2\n3,3");
  std::filesystem::rename(path, path + ".1");
  append(path, "b,a\n4,40\n5,50\n");
  EXPECT_EQ(take(*stream, first.positions, 2s).text, "1:2 2:3 0:40 1:50 ");
  EXPECT_EQ(take(*stream).text, "");
}

TEST(GrowingFile, StartsOverWithAFileThatWasCutAndWrittenAnew) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows.csv", "1,1\n2,2\n3,3\n");
  const auto stream = open_growing_file(path, kFeatures, {});
  stream->start({});
  const Taken first = take(*stream);
  EXPECT_EQ(first.text, "0:1 1:2 2:3 ");
  std::ofstream(path, std::ios::trunc) << "4,4\n";
  EXPECT_EQ(take(*stream, first.positions).text, "0:4 ");
}

TEST(GrowingFile, AfterARestartAnotherFileIsReadFromItsBeginning) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows.csv", "a,b\n1,1\n2,2\n");
  const auto before = open_growing_file(path, kFeatures, {});
  before->start({});
  const StreamPositions kept = take(*before).positions;
  folder.write("rows.csv", "a,b\n7,7\n8,8\n9,9\n");
  std::string said;
  const auto again = open_growing_file(path, kFeatures, {.note = [&](auto& text) { said += text; }});
  again->start(kept);
  EXPECT_EQ(take(*again, kept).text, "0:7 1:8 2:9 ");
  EXPECT_EQ(said, path +
                      " is none of the files that are kept: it is read from its beginning; what was added to "
                      "the one before it, after it was read last, is not counted");
}

TEST(GrowingFile, AFileThatBeginsLikeTheOneBeforeItIsAnotherWhenItGoesOnOtherwise) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows.csv", "a,b\n1,1\n2,2\n3,3\n");
  std::string said;
  const auto stream = open_growing_file(path, kFeatures, {.note = [&](auto& text) { said += text + "\n"; }});
  stream->start({});
  const Taken first = take(*stream);
  EXPECT_EQ(first.text, "0:1 1:2 2:3 ");
  std::filesystem::rename(path, path + ".1");
  append(path, "a,b\n1,1\n");
  EXPECT_EQ(take(*stream, first.positions, 1s).text, "");
  EXPECT_EQ(said, path +
                      " begins with rows of a file that is kept: unless others follow that differ, they are "
                      "not counted again\n");
  append(path, "7,7\n");
  const Taken second = take(*stream, first.positions);
  EXPECT_EQ(second.text, "0:1 1:7 ");
  ASSERT_EQ(second.positions.size(), 2U);
  EXPECT_EQ(second.positions.rbegin()->first, second.positions.begin()->first + "-2");
  EXPECT_NE(said.find(path + " begins like a file that is kept, and is another one: all of it is counted\n"),
            std::string::npos)
      << said;
  // Started again with either, it is known which one it is.
  StreamMarks marks = first.marks;
  marks.insert(second.marks.begin(), second.marks.end());
  append(path, "8,8\n");
  append(path + ".1", "4,4\n");
  for (const auto& [file, rest] : {std::pair(path, "2:8 "), std::pair(path + ".1", "3:4 ")}) {
    const auto again = open_growing_file(file, kFeatures, {.marks = marks});
    again->start(second.positions);
    EXPECT_EQ(take(*again, second.positions).text, rest);
  }
}

TEST(GrowingFile, AfterARestartFilesAreToldApartByWhatIsInThem) {
  const test::TemporaryFolder folder;
  std::string rows = "a,b\n";
  for (int i = 0; i < 100; ++i) rows += std::to_string(i) + ",0\n";
  const std::string path = folder.write("rows.csv", rows);
  const auto before = open_growing_file(path, kFeatures, {});
  before->start({});
  const Taken kept = take(*before);
  const auto rest_of = [&](const std::string& text) {
    const auto again =
        open_growing_file(folder.write("other.csv", text), kFeatures, {.follow = false, .marks = kept.marks});
    again->start(kept.positions);
    return take(*again, kept.positions).text;
  };
  EXPECT_EQ(rest_of(rows + "500,0\n"), "100:500 ");  // a copy, in another place
  EXPECT_EQ(rest_of(rows), "");
  // One row is another, and it has a few more: all of it is counted.
  for (const int place : {1, 63, 64, 99}) {
    std::string other = rows + "200,0";
    const std::string row = "\n" + std::to_string(place) + ",0\n";
    other.replace(other.find(row), row.size(), "\n777,0\n");
    EXPECT_EQ(rest_of(other).substr(0, 4), "0:0 ") << place;
    EXPECT_NE(rest_of(other).find(std::to_string(place) + ":777 "), std::string::npos) << place;
  }
}

TEST(GrowingFile, AFileThatIsShorterThanWhatIsKeptOfItIsAnError) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("rows.csv", "1,1\n2,2\n3,3\n");
  const auto before = open_growing_file(path, kFeatures, {});
  before->start({});
  const StreamPositions kept = take(*before).positions;
  folder.write("rows.csv", "1,1\n2,2\n");
  const auto again = open_growing_file(path, kFeatures, {});
  again->start(kept);
  expect_error(
      ErrorCode::input,
      path + " has 2 rows, and 3 of it are kept: it was cut; give the whole file, or start with new state",
      [&] { take(*again, kept); });
  expect_error(ErrorCode::input, "/dev/null is no file; a pipe is read as standard input", [&] {
    const auto device = open_growing_file("/dev/null", kFeatures, {});
    device->start({});
    take(*device);
  });
}

}  // namespace
}  // namespace harmonia
