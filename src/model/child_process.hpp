#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace harmonia {

/// A file descriptor that is closed with its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

/// How a process ended.
struct ProcessEnd {
  bool by_us = false;  ///< it had not ended in time and was killed
  int status = 0;      ///< its exit status, if signal is 0
  int signal = 0;      ///< the signal that ended it

  bool success() const { return !by_us && status == 0 && signal == 0; }
};

/// A shell command that runs in a process group of its own, with pipes to its standard input, output and
/// error. Used by one thread at a time. The group is killed and the process reaped with the object.
class ChildProcess {
 public:
  /// Starts `/bin/sh -c "exec COMMAND"`. Throws std::system_error if there are no processes or pipes left.
  explicit ChildProcess(const std::string& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Hands over as much of text as the pipe takes at once, and says how much that was. A program that reads
  /// no more closes the input; that never raises SIGPIPE.
  std::size_t send(std::string_view text);
  void close_input() { input_.close(); }
  bool input_open() const { return input_.open(); }
  /// The program has read all that was sent.
  bool input_consumed() const;

  /// Waits until the program wrote something, or takes input if `sending`, or `longest` has passed; then
  /// takes in what it wrote.
  void wait(bool sending, std::chrono::milliseconds longest);
  /// What came on standard output; the caller removes what it used.
  std::string& output() { return output_text_; }
  bool output_open() const { return output_.open(); }
  /// The last line that is not blank of what came on standard error; empty if there is none.
  std::string last_error_line() const;

  /// Waits at most `longest` for the process to end, and kills what is left of its group.
  ProcessEnd end(std::chrono::milliseconds longest);

 private:
  void receive_output();
  void receive_errors();

  pid_t process_ = -1;
  FileDescriptor input_, output_, errors_;
  std::string output_text_, error_text_;
};

}  // namespace harmonia
