// A command's answers are those of the same arithmetic done here, however the program reads and writes.
#include "harmonia/model/command_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

using test::awkward_rows;

constexpr std::array kExample{1.0, 2.0};
constexpr const char* kReadRows = R"(import sys, time
def answer(line):
    x = [float(v) for v in line.split(',')]
    return f'{x[0] * x[0] - x[1] * x[1]!r},{x[0] + x[1]!r}'
)";

ModelOptions options_with(double timeout_seconds) {
  ModelOptions options;
  options.timeout_seconds = timeout_seconds;
  return options;
}

std::size_t wrong_rows(const Matrix<double>& x, const Matrix<double>& y) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double a = x.row(i)[0], b = x.row(i)[1];
    if (y.row(i)[0] != a * a - b * b || y.row(i)[1] != a + b) ++wrong;
  }
  return wrong;
}

class PythonCommand : public testing::Test {
 protected:
  std::unique_ptr<Model> open(const std::string& loop, double timeout_seconds = 60) {
    const std::string script = folder_.write("model.py", std::string(kReadRows) + loop);
    return open_command_model("cmd:python3 " + script, options_with(timeout_seconds), kExample);
  }
  void expect_right(const Model& model, std::size_t rows) {
    EXPECT_EQ(model.info().outputs, 2U);
    EXPECT_EQ(model.info().inputs, 2U);
    const Matrix<double> x = awkward_rows(rows, 2);
    EXPECT_EQ(wrong_rows(x, test::evaluate(model, x)), 0U);
  }
  std::string starts() const { return fmt::format("open({:?}, 'a').write('x')\n", folder_.path("starts")); }
  std::uintmax_t start_count() const { return std::filesystem::file_size(folder_.path("starts")); }

  test::TemporaryFolder folder_;
};

TEST_F(PythonCommand, LineBufferedIsOneProcess) {
  const auto model = open(starts() + "for line in sys.stdin: print(answer(line), flush=True)\n");
  for (int i = 0; i < 5; ++i) expect_right(*model, 100);
  EXPECT_EQ(start_count(), 1U);
}

TEST_F(PythonCommand, ManyRowsInOneBatch) {
  const auto model = open("for line in sys.stdin: print(answer(line), flush=True)\n");
  expect_right(*model, 100000);
}

// Answers come in blocks, the last of them only when the input ends.
TEST_F(PythonCommand, BlockBuffered) {
  const auto model = open("for line in sys.stdin: print(answer(line))\n", 4);
  expect_right(*model, 20000);
  expect_right(*model, 3);
}

TEST_F(PythonCommand, AnswersAtTheEndOfItsInput) {
  const auto model = open(starts() + "for line in sys.stdin.read().splitlines(): print(answer(line))\n", 12);
  EXPECT_EQ(start_count(), 1U);
  const auto begin = std::chrono::steady_clock::now();
  expect_right(*model, 100000);
  expect_right(*model, 1);
  EXPECT_EQ(start_count(), 3U);
  // Once it is known, nobody waits a patience (3 s here) for it again.
  const auto one_row = std::chrono::steady_clock::now();
  expect_right(*model, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - one_row, std::chrono::milliseconds(2700));
  EXPECT_LT(one_row - begin, std::chrono::seconds(60));
}

TEST_F(PythonCommand, PrintsSlowly) {
  const auto model = open(R"(for line in sys.stdin:
    for letter in answer(line) + '\r\n':
        print(letter, end='', flush=True)
        time.sleep(0.001)
)",
                          4);
  expect_right(*model, 30);  // longer than the patience in all, never silent for as long
}

// It is silent while it starts, but has not read its rows: that is no sign that it waits for the end of them.
TEST_F(PythonCommand, StartsSlowly) {
  const auto model =
      open(starts() + "time.sleep(3)\nfor line in sys.stdin: print(answer(line), flush=True)\n", 8);
  expect_right(*model, 10);
  EXPECT_EQ(start_count(), 1U);
}

TEST_F(PythonCommand, SeveralThreadsAtOnce) {
  const auto model = open(starts() + "for line in sys.stdin: print(answer(line), flush=True)\n");
  std::vector<std::size_t> wrong(4, 1);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        wrong[t] = 0;
        for (std::size_t rows = 1; rows < 2000; rows += 311) {
          const Matrix<double> x = awkward_rows(rows + t, 2);
          wrong[t] += wrong_rows(x, test::evaluate(*model, x));
        }
      });
    }
  }
  for (const std::size_t count : wrong) EXPECT_EQ(count, 0U);
  EXPECT_LE(start_count(), wrong.size() + 1);
}

// More on standard error than a pipe holds stops nobody.
TEST_F(PythonCommand, TalksOnStandardError) {
  const auto model = open(
      "for line in sys.stdin:\n    sys.stderr.write('x' * 5000 + '\\n')\n    print(answer(line))\n"
      "    sys.stdout.flush()\n");
  expect_right(*model, 500);
}

// Some awks read in blocks and answer at the end of their input, some line by line.
TEST(Command, AwkReadsTheSameDigits) {
  const auto model =
      open_command_model("cmd:awk -F, '{print $1 \" , \" $2; fflush()}'", options_with(4), kExample);
  Matrix<double> x = awkward_rows(5000, 2);
  x.row(0)[0] = std::numeric_limits<double>::denorm_min();
  x.row(1)[0] = -std::numeric_limits<double>::max();
  x.row(2)[0] = -0.0;
  x.row(3)[0] = std::numeric_limits<double>::quiet_NaN();
  x.row(4)[0] = std::numeric_limits<double>::infinity();
  const Matrix<double> y = test::evaluate(*model, x);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    if (i == 3) {
      EXPECT_TRUE(std::isnan(y.row(i)[0]));
      continue;
    }
    ASSERT_EQ(std::bit_cast<std::uint64_t>(x.row(i)[0]), std::bit_cast<std::uint64_t>(y.row(i)[0])) << i;
  }
}

// A program that takes one row and ends is started again for the next.
TEST(Command, EndsAfterEveryRow) {
  const auto model = open_command_model("cmd:head -n 1", options_with(60), kExample);
  const Matrix<double> x = awkward_rows(1, 2);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(test::evaluate(*model, x).row(0)[1], x.row(0)[1]);
}

}  // namespace
}  // namespace harmonia
