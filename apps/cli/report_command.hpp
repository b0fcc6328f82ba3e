#pragma once

#include <CLI/CLI.hpp>
#include <string>

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
  /// Throws Error(usage) before anything is measured if a page is wanted and this build writes none.
  explicit ReportOutput(const RunOptions& options);
  ~ReportOutput();
  ReportOutput(const ReportOutput&) = delete;
  ReportOutput& operator=(const ReportOutput&) = delete;

  /// Where the command has to write its JSON; empty: nowhere.
  const std::string& json() const { return json_; }
  /// Writes the page, if one is wanted, of the JSON that is there now.
  void write() const;

 private:
  std::string html_, json_;
  bool temporary_ = false;
};

}  // namespace harmonia
