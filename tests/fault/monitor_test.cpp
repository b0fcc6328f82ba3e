// A monitor survives rows and models that cannot be used, a full disk, and being killed.
#include "harmonia/monitor/monitor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "harmonia/core/error.hpp"
#include "support/expect_error.hpp"
#include "support/streams.hpp"
#include "support/temporary_folder.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kSeed = 11;

struct Watched {
  test::RowFunction model = test::curved_model();
  Baseline baseline = test::curved_baseline(500, 7);
  test::TemporaryFolder folder;
  MonitorOptions options;
  Run run;

  std::string file(const std::string& name = "state.db") const { return folder.path(name); }
  Monitor open(const std::string& name = "state.db") { return {model, baseline, options, file(name), run}; }
};

TEST(MonitorFaults, RowsThatCannotBeMeasuredAreCountedAndNamed) {
  Watched watched;
  Monitor monitor = watched.open();
  StreamBatch batch = test::drawn_batch(kSeed, 0, 100);
  batch.rows.values.row(17)[0] = std::numeric_limits<double>::quiet_NaN();  // the model takes none
  batch.rows.values.row(40)[1] = std::numeric_limits<double>::infinity();
  batch.next = 102;
  batch.refused = {{100, "is no row"}, {101, "is no row either"}};
  EXPECT_TRUE(monitor.take(batch).kept);
  const MonitorStatus status = monitor.status();
  EXPECT_EQ(status.rows, 100U);
  EXPECT_EQ(status.measured, 98U);
  EXPECT_EQ(status.without_value, 2U);
  EXPECT_EQ(status.refused, 2U);
  EXPECT_EQ(status.last_refused, "is no row either");
  EXPECT_EQ(status.positions.at("0"), 102U);
}

TEST(MonitorFaults, RowThatTheModelDoesNotAnswerIsToldFromAModelThatIsDown) {
  Watched watched;
  bool down = false;
  const test::RowFunction model(2, [&](const double* x) {
    if (down || x[0] > 100) throw Error(ErrorCode::model, "the model fails");
    return 0.5 * (1 + x[0]) * x[1] * x[1];
  });
  Monitor monitor(model, watched.baseline, watched.options, watched.file(), watched.run);
  StreamBatch batch = test::drawn_batch(kSeed, 0, 64);
  batch.rows.values.row(33)[0] = 1000;
  monitor.take(batch);
  EXPECT_EQ(monitor.status().measured, 63U);
  EXPECT_EQ(monitor.status().without_value, 1U);
  EXPECT_NE(monitor.status().last_refused.find("row 33: the model fails"), std::string::npos)
      << monitor.status().last_refused;
  down = true;
  EXPECT_THROW(monitor.take(test::drawn_batch(kSeed, 64, 128)), Error);
  EXPECT_EQ(monitor.status().rows, 64U);  // nothing of it was taken
  down = false;
  monitor.take(test::drawn_batch(kSeed, 64, 128));
  EXPECT_EQ(monitor.status().rows, 128U);
}

TEST(MonitorFaults, FileOfAnotherBaselineOrMonitorIsRefused) {
  Watched watched;
  {
    Monitor monitor = watched.open();
    test::expect_error(ErrorCode::usage,
                       watched.file() + ": another monitor has it; expected a file for each",
                       [&] { Monitor second = watched.open(); });
  }
  const std::string other_one =
      watched.file() + ": is of another baseline, map, window or seed; expected the same, or another file";
  watched.options.window = 500;
  test::expect_error(ErrorCode::usage, other_one, [&] { Monitor second = watched.open(); });
  watched.options.window = 1000;
  watched.options.seed = 12;
  test::expect_error(ErrorCode::usage, other_one, [&] { Monitor second = watched.open(); });
  watched.options.seed = 1;
  const Baseline other = test::curved_baseline(500, 8);
  test::expect_error(ErrorCode::usage, other_one, [&] {
    Monitor second(watched.model, other, watched.options, watched.file(), watched.run);
  });
  test::expect_error(ErrorCode::input,
                     watched.file("none.db") + ": is not there; expected the file of a monitor",
                     [&] { StoredMonitor stored(watched.file("none.db")); });
  test::expect_error(ErrorCode::input, watched.file("text.db") + ": is no SQLite file", [&] {
    StoredMonitor stored(watched.folder.write("text.db", "no SQLite file at all, but text"));
  });
}

// In a child, so that its limits are its own.
template <class Work>
int exit_code_of(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    int code = 99;
    try {
      code = work();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(MonitorFaults, FullDiskDoesNotStopMeasuringAndNothingIsLost) {
  Watched watched;
  const int code = exit_code_of([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    watched.run.threads = 1;
    Monitor monitor = watched.open();
    if (!monitor.take(test::drawn_batch(kSeed, 0, 100)).kept) return 1;
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit none{1024, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
    if (monitor.take(test::drawn_batch(kSeed, 100, 200)).kept) return 2;
    if (monitor.status().unsaved.empty() || monitor.status().measured != 200) return 3;
    if (monitor.save_again()) return 4;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if (!monitor.save_again()) return 5;
    if (!monitor.take(test::drawn_batch(kSeed, 200, 300)).kept) return 6;
    return monitor.status().unsaved.empty() ? 0 : 7;
  });
  EXPECT_EQ(code, 0);
  Monitor monitor = watched.open();
  EXPECT_EQ(monitor.status().measured, 300U);
  EXPECT_EQ(StoredMonitor(watched.file()).windows(watched.baseline).at(0).measured, 300U);
}

// The file as another program has it.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& path) { EXPECT_EQ(sqlite3_open(path.c_str(), &file_), SQLITE_OK); }
  ~OtherProgram() { sqlite3_close(file_); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;
  void execute(const std::string& sql) const {
    EXPECT_EQ(sqlite3_exec(file_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }

 private:
  sqlite3* file_ = nullptr;
};

TEST(MonitorFaults, StatusIsReadWhileTheFileIsWritten) {
  Watched watched;
  Monitor monitor = watched.open();
  const OtherProgram other(watched.file());
  other.execute("BEGIN IMMEDIATE");
  std::atomic<bool> kept = false;
  std::thread writer([&] { kept = monitor.take(test::drawn_batch(kSeed, 0, 100)).kept; });
  // It waits for the other one, up to half a minute, and what it has counted is seen meanwhile.
  while (monitor.status().rows < 100) std::this_thread::yield();
  EXPECT_FALSE(kept);
  EXPECT_EQ(monitor.status().measured, 100U);
  other.execute("ROLLBACK");
  writer.join();
  EXPECT_TRUE(kept);
}

TEST(MonitorFaults, PartitionsWithoutEndTakeNoRoomWithoutEnd) {
  constexpr std::size_t kPartitions = 400;
  Watched watched;
  watched.run.threads = 1;
  const auto part = [](std::size_t i, std::uint64_t first, std::uint64_t next) {
    StreamBatch batch = test::drawn_batch(kSeed, first, next);
    batch.partition = "file " + std::to_string(i);
    return batch;
  };
  {
    Monitor monitor = watched.open();
    for (std::size_t i = 0; i < kPartitions; ++i) monitor.take(part(i, 0, 2));
    EXPECT_EQ(monitor.status().windows.size(), 200U);
    // Its window is only in the file by now, and is gone on with.
    monitor.take(part(0, 2, 5));
    EXPECT_EQ(monitor.status().windows.size(), 200U);
    EXPECT_EQ(monitor.status().windows.back().partition, "file 399");  // in the order in which they began
  }
  std::vector<Window> windows = StoredMonitor(watched.file()).windows(watched.baseline);
  ASSERT_EQ(windows.size(), kPartitions);
  EXPECT_EQ(windows[0].partition, "file 0");
  EXPECT_EQ(windows[0].rows, 5U);
  EXPECT_EQ(windows[1].rows, 2U);
  // Positions of ten thousand partitions are kept: those that were read last.
  {
    const OtherProgram other(watched.file());
    other.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9600) "
        "INSERT INTO positions (partition, next) SELECT CAST('older ' || i AS BLOB), 7 FROM n");
  }
  Monitor monitor = watched.open();
  ASSERT_EQ(monitor.positions().size(), 10000U);
  monitor.take(part(1, 2, 3));
  monitor.take(part(5000, 0, 1));
  EXPECT_EQ(monitor.positions().size(), 10000U);
  EXPECT_FALSE(monitor.positions().contains("file 2"));  // of those that are left, read the longest ago
  EXPECT_TRUE(monitor.positions().contains("file 0"));
  EXPECT_TRUE(monitor.positions().contains("file 1"));
}

TEST(MonitorFaults, KilledAtRandomMomentsItCountsEveryRowOnce) {
  constexpr std::uint64_t kRows = 6000, kBatch = 40;
  Watched watched;
  watched.run.threads = 1;
  const auto feed = [&](const std::string& name) {
    Monitor monitor = watched.open(name);
    // A source that is read again begins where the file says, or a little before.
    const StreamPositions kept = monitor.positions();
    const std::uint64_t from = kept.contains("0") ? kept.at("0") : 0;
    for (std::uint64_t first = from - std::min<std::uint64_t>(from, 17); first < kRows; first += kBatch)
      monitor.take(test::drawn_batch(kSeed, first, std::min(kRows, first + kBatch), 3, 2000, 4000));
    return 0;
  };
  ASSERT_EQ(exit_code_of([&] { return feed("whole.db"); }), 0);
  std::mt19937 random(3);
  int kills = 0;
  for (; kills < 10; ++kills) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        feed("killed.db");
      } catch (...) {
      }
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 60));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ASSERT_EQ(exit_code_of([&] { return feed("killed.db"); }), 0);
  StoredMonitor whole(watched.file("whole.db")), killed(watched.file("killed.db"));
  const std::vector<Window> expected = whole.windows(watched.baseline),
                            found = killed.windows(watched.baseline);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rows, expected[i].rows);
    EXPECT_EQ(found[i].counts.gamma, expected[i].counts.gamma);
    EXPECT_EQ(found[i].counts.gamma_sum, expected[i].counts.gamma_sum);
    EXPECT_EQ(found[i].counts.features, expected[i].counts.features);
  }
  const std::vector<Alert> alerts = killed.status(watched.baseline).alerts;
  ASSERT_EQ(alerts.size(), 1U);
  EXPECT_EQ(alerts[0].since_number, whole.status(watched.baseline).alerts[0].since_number);
  EXPECT_EQ(alerts[0].raised_number, whole.status(watched.baseline).alerts[0].raised_number);
}

}  // namespace
}  // namespace harmonia
