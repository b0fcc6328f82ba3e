#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "harmonia/core/text.hpp"
#include "pipe_signal.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kReadBytes = 1 << 16;
constexpr std::size_t kErrorBytes = 1 << 13;  // of standard error, the end is kept

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  FileDescriptor read_end, write_end;
};

// Above 2, so that no end is overwritten while the child's standard descriptors are put in place.
FileDescriptor above_standard(FileDescriptor end) {
  if (end.number() > STDERR_FILENO) return end;
  const int moved = ::fcntl(end.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) fail(errno, "fcntl");
  return FileDescriptor(moved);
}

Pipe make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "pipe");
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  return {above_standard(std::move(read_end)), above_standard(std::move(write_end))};
}

// Only our end: the other one is the program's, and programs expect to wait.
void set_nonblocking(const FileDescriptor& end) {
  if (::fcntl(end.number(), F_SETFL, ::fcntl(end.number(), F_GETFL) | O_NONBLOCK) != 0) fail(errno, "fcntl");
}

// The tables that posix_spawn reads, freed with their owner.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);  // a host such as Python ignores it, and its children would too
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void give(const FileDescriptor& ours, int theirs) {
    ::posix_spawn_file_actions_adddup2(&actions_, ours.number(), theirs);
  }
  pid_t start(const std::string& command) {
    std::string shell = "sh", flag = "-c", script = "exec " + command;
    const std::array<char*, 4> arguments{shell.data(), flag.data(), script.data(), nullptr};
    pid_t process = -1;
    const int error = ::posix_spawn(&process, "/bin/sh", &actions_, &attributes_, arguments.data(), environ);
    if (error != 0) fail(error, "/bin/sh");
    return process;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Appends what is there. False: the other side has closed.
bool read_some(const FileDescriptor& end, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + kReadBytes);
  const ssize_t count = ::read(end.number(), text.data() + before, kReadBytes);
  const int error = errno;
  text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count > 0 || (count < 0 && (error == EAGAIN || error == EINTR));
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void FileDescriptor::close() {
  if (open()) ::close(std::exchange(number_, -1));
}

ChildProcess::ChildProcess(const std::string& command) {
  Pipe input = make_pipe(), output = make_pipe(), errors = make_pipe();
  set_nonblocking(input.write_end);
  set_nonblocking(output.read_end);
  set_nonblocking(errors.read_end);
  SpawnPlan plan;
  plan.give(input.read_end, STDIN_FILENO);
  plan.give(output.write_end, STDOUT_FILENO);
  plan.give(errors.write_end, STDERR_FILENO);
  process_ = plan.start(command);
  input_ = std::move(input.write_end);
  output_ = std::move(output.read_end);
  errors_ = std::move(errors.read_end);
}

ChildProcess::~ChildProcess() { end(std::chrono::milliseconds(0)); }

std::size_t ChildProcess::send(std::string_view text) {
  if (!input_open() || text.empty()) return 0;
  const PipeSignalGuard guard;
  const ssize_t written = ::write(input_.number(), text.data(), text.size());
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno != EAGAIN && errno != EINTR) close_input();
  return 0;
}

bool ChildProcess::input_consumed() const {
  int waiting = 0;
  return !input_open() || ::ioctl(input_.number(), FIONREAD, &waiting) != 0 || waiting == 0;
}

void ChildProcess::wait(bool sending, std::chrono::milliseconds longest) {
  std::array<pollfd, 3> ends{{{sending ? input_.number() : -1, POLLOUT, 0},  // poll skips negative ones
                              {output_.number(), POLLIN, 0},
                              {errors_.number(), POLLIN, 0}}};
  if (::poll(ends.data(), ends.size(), static_cast<int>(longest.count())) <= 0) return;
  if (ends[1].revents != 0) receive_output();
  if (ends[2].revents != 0) receive_errors();
}

void ChildProcess::receive_output() {
  if (!read_some(output_, output_text_)) output_.close();
}

void ChildProcess::receive_errors() {
  if (!read_some(errors_, error_text_)) errors_.close();
  if (error_text_.size() > kErrorBytes) error_text_.erase(0, error_text_.size() - kErrorBytes);
}

std::string ChildProcess::last_error_line() const {
  const std::string_view text = trim(error_text_);
  const std::size_t before = text.find_last_of('\n');
  return std::string(before == std::string_view::npos ? text : text.substr(before + 1));
}

ProcessEnd ChildProcess::end(std::chrono::milliseconds longest) {
  if (process_ < 0) return {};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  ProcessEnd result;
  siginfo_t info{};
  // WNOWAIT: the process stays unreaped, so that its group's number cannot be someone else's when we kill it.
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    info.si_pid = 0;
    if (::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
        errno != EINTR) {
      break;
    }
    if (info.si_pid != 0) break;
    if (std::chrono::steady_clock::now() >= deadline) {
      result.by_us = true;
      break;
    }
    if (output_.open() || errors_.open()) {
      wait(false, pause);  // a program that cannot write does not end
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
  ::kill(-process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (errors_.open()) wait(false, std::chrono::milliseconds(0));
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace harmonia
