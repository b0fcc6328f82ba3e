// Programs that fail are reported by one line that says which, what happened and what was expected.
#include "harmonia/model/command_model.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>

#include "support/model_checks.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

using test::awkward_rows;
using test::message_of;
using test::says;

constexpr std::array kExample{1.0, 2.0};

// A program that does that with every line; n counts them from 1.
std::string for_each_line(const std::string& code) {
  return "python3 -uc 'import sys, time\nfor n, line in enumerate(sys.stdin, 1):\n    " + code + "'";
}

std::unique_ptr<Model> open(const std::string& command, double timeout_seconds = 20) {
  ModelOptions options;
  options.timeout_seconds = timeout_seconds;
  return open_command_model("cmd:" + command, options, kExample);
}

std::string opening_fails(const std::string& command, double timeout_seconds = 20) {
  return message_of(ErrorCode::model, [&] { open(command, timeout_seconds); });
}

std::string evaluation_fails(const std::string& command, std::size_t rows) {
  const auto model = open(command);
  return message_of(ErrorCode::model, [&] { test::evaluate(*model, awkward_rows(rows, 2)); });
}

TEST(CommandFaults, NotFound) {
  EXPECT_TRUE(says(opening_fails("no-such-program --flag"), "model cmd:no-such-program --flag: not found",
                   "its standard error ends with"));
}

TEST(CommandFaults, NotExecutable) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("data.txt", "1,2\n");
  EXPECT_TRUE(says(opening_fails(path), path + ": cannot be executed", "enied"));
}

TEST(CommandFaults, NoProgram) {
  EXPECT_TRUE(says(message_of(ErrorCode::usage, [] { open("  "); }), "expected cmd:PROGRAM ARGS"));
}

TEST(CommandFaults, ExitsBeforeItsFirstAnswer) {
  EXPECT_TRUE(says(opening_fails("sh -c 'echo no model file >&2; echo >&2; exit 3'"),
                   "exited with status 3 after 0 of 1 answers; expected one line per row",
                   "its standard error ends with: no model file"));
  EXPECT_TRUE(says(opening_fails("true"), "exited with status 0 after 0 of 1 answers"));
}

TEST(CommandFaults, ExitsEarly) {
  EXPECT_TRUE(says(evaluation_fails(for_each_line("print(1) if n < 12 else sys.exit(7)"), 50000),
                   "exited with status 7 after 10 of 50000 answers"));
}

TEST(CommandFaults, DiesOfASignal) {
  EXPECT_TRUE(says(opening_fails("sh -c 'kill -SEGV $$'"), "was ended by signal 11 (SIGSEGV) after 0 of 1"));
}

TEST(CommandFaults, FailsAfterItsAnswers) {
  EXPECT_TRUE(
      says(opening_fails("awk '{print 1} END {exit 4}'", 1), "exited with status 4 after the last answer"));
}

TEST(CommandFaults, ClosesItsOutput) {
  EXPECT_TRUE(says(opening_fails("sh -c 'exec >&-; sleep 100'"), "closed its standard output after 0 of 1"));
}

TEST(CommandFaults, NeverAnswers) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(says(opening_fails("sleep 100", 0.4), "no answer within 0.4 s, 0 of 1 rows answered"));
  EXPECT_TRUE(says(opening_fails("sh -c 'cat > /dev/null; sleep 100'", 0.4), "no answer within 0.4 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(CommandFaults, NeverEndsALine) {
  EXPECT_TRUE(
      says(opening_fails("sh -c 'while :; do printf 1; sleep 0.05; done'", 0.5), "no answer within 0.5 s"));
}

TEST(CommandFaults, TooFewLines) {
  EXPECT_TRUE(says(evaluation_fails(for_each_line("if n < 5: print(1)"), 10),
                   "exited with status 0 after 3 of 10 answers; expected one line per row"));
}

TEST(CommandFaults, TooManyLines) {
  EXPECT_TRUE(
      says(opening_fails(for_each_line("print(\"1\\n2\")")),
           "wrote more lines than it was given rows, the first of them '2'; expected one line per row"));
  EXPECT_TRUE(
      says(evaluation_fails(for_each_line("print(\"1\" if n != 4 else \"1\\n17\")"), 3), "more lines"));
  EXPECT_TRUE(says(opening_fails("yes 1"), "more lines"));
}

TEST(CommandFaults, ALateLineIsNotTheNextAnswer) {
  const auto model = open(for_each_line("print(1); n == 2 and (time.sleep(0.2), print(9))"));
  test::evaluate(*model, awkward_rows(1, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  EXPECT_TRUE(says(message_of(ErrorCode::model, [&] { test::evaluate(*model, awkward_rows(1, 2)); }),
                   "more lines than it was given rows, the first of them '9'"));
}

TEST(CommandFaults, WrongNumberOfValues) {
  EXPECT_TRUE(says(evaluation_fails(for_each_line("print(\"1,2,3\" if n == 4 else \"1,2\")"), 10),
                   "line 3 of its answer, '1,2,3', has 3 values; expected 2, as in its first answer"));
  EXPECT_TRUE(
      says(evaluation_fails(for_each_line("print(\"\" if n == 4 else \"1,2\")"), 10), "has 0 values"));
  EXPECT_TRUE(says(opening_fails(for_each_line("print()")), "is blank; expected comma-separated numbers"));
}

TEST(CommandFaults, NoNumber) {
  EXPECT_TRUE(says(opening_fails("sh -c 'echo loading model; cat'"),
                   "line 1 of its answer, 'loading model', has 'loading model'; expected a number"));
  EXPECT_TRUE(
      says(evaluation_fails(for_each_line("print(\"1, 0x\" if n == 2 else \"1,2\")"), 3), "has '0x'"));
  EXPECT_TRUE(says(opening_fails("echo 1,,2"), "has ''; expected a number"));
  EXPECT_TRUE(says(opening_fails("sh -c 'echo failed; echo why >&2; sleep 9'"), "ends with: why"));
}

TEST(CommandFaults, NumbersOfEveryForm) {
  const auto model =
      open("sh -c 'while read line; do printf \" 1E+2 ,\\t-2.5e-3, NaN,-inf,+4,1e-400,1e400 \\r\\n\"; done'");
  const Matrix<double> y = test::evaluate(*model, awkward_rows(1, 2));
  ASSERT_EQ(model->info().outputs, 7U);
  EXPECT_EQ(y.row(0)[0], 100);
  EXPECT_EQ(y.row(0)[1], -0.0025);
  EXPECT_NE(y.row(0)[2], y.row(0)[2]);
  EXPECT_EQ(y.row(0)[3], -INFINITY);
  EXPECT_EQ(y.row(0)[4], 4);
  EXPECT_EQ(y.row(0)[5], 0);
  EXPECT_EQ(y.row(0)[6], INFINITY);
}

// A program that ignores the end of its input, and the ones that it started, are gone with the model.
TEST(CommandFaults, NothingIsLeftRunning) {
  const test::TemporaryFolder folder;
  const std::string pids = folder.path("pids");
  open("sh -c 'sleep 100 & echo $! $$ > " + pids + "; while :; do read line && echo 1 || sleep 1; done'");
  std::ifstream file(pids);
  pid_t grandchild = 0, child = 0;
  file >> grandchild >> child;
  ASSERT_GT(grandchild, 0);
  ASSERT_GT(child, 0);
  EXPECT_EQ(::kill(child, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  // An orphan is reaped by init, in its own time; until then its state is Z.
  bool gone = false;
  for (int i = 0; i < 100 && !gone; ++i) {
    std::string text;
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::getline(stat, text);
    gone = text.empty() || text.find(") Z") != std::string::npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(CommandFaults, SignalsStayAsTheyWere) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGPIPE, nullptr, &before);
  EXPECT_TRUE(says(evaluation_fails("head -n 1", 100000), "exited with status 0"));
  ::sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  sigset_t pending, blocked;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(::sigismember(&blocked, SIGPIPE), 0);
}

}  // namespace
}  // namespace harmonia
