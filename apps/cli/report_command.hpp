#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "harmonia/core/atomic_file.hpp"
#include "options.hpp"

namespace harmonia {

/// Adds `harmonia report` to the program; it runs when it was the command given.
void add_report_command(CLI::App& program);

/// Throws Error(usage) if this build writes no pages.
void check_report();

/// The page that --html asks a measuring command for. It is made of the command's JSON: of the file that
/// --json names, or of one that is removed afterwards.
class ReportOutput {
 public:
  /// Throws before anything is measured: Error(usage) if a page is wanted and this build writes none,
  /// Error(input) if it cannot be written where it is wanted.
  explicit ReportOutput(const RunOptions& options);
  ~ReportOutput();
  ReportOutput(const ReportOutput&) = delete;
  ReportOutput& operator=(const ReportOutput&) = delete;

  /// Where the command has to write its JSON; empty: nowhere.
  const std::string& json() const { return json_; }
  /// Writes the page, if one is wanted, of the JSON that is there now.
  void write();

 private:
  std::string json_, folder_;  // folder_: of a JSON that nobody asked for
  std::unique_ptr<AtomicFile> page_;
};

}  // namespace harmonia
