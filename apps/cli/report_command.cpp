#include "report_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/report/report_page.hpp"
#include "harmonia/report/result_file.hpp"

namespace harmonia {
namespace {

std::string page_of(const std::vector<std::string>& results) {
  std::vector<std::string> texts;
  texts.reserve(results.size());
  for (const std::string& result : results) texts.push_back(read_result_file(result).text);
  return report_page(texts, results);
}

struct ReportCommand {
  std::vector<std::string> results;
  std::string out = "report.html";

  void execute() const {
    check_report();
    if (std::any_of(results.begin(), results.end(),
                    [&](const auto& result) { return same_file(result, out); })) {
      throw Error(ErrorCode::usage,
                  fmt::format("{} is named twice; expected a file of its own for the page", out));
    }
    AtomicFile file(out);
    file.write(page_of(results));
    file.commit();
    fmt::print("{}\n", out);
  }
};

}  // namespace

void check_report() {
  if (const std::string missing = report_missing(); !missing.empty()) throw Error(ErrorCode::usage, missing);
}

ReportOutput::ReportOutput(const RunOptions& options) : json_(options.json) {
  if (options.html.empty()) return;
  check_report();
  page_ = std::make_unique<AtomicFile>(options.html);
  if (!json_.empty()) {
    // The page is made of the file, so that it has to be there to be read.
    if (std::filesystem::exists(json_) && !std::filesystem::is_regular_file(json_)) {
      throw Error(ErrorCode::usage, fmt::format("--json {} is no plain file; --html needs one", json_));
    }
    return;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "harmonia-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw Error(ErrorCode::input, fmt::format("cannot make the folder {}", folder));
  }
  folder_ = folder;
  json_ = folder + "/result.json";
}

ReportOutput::~ReportOutput() {
  std::error_code gone;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, gone);
}

void ReportOutput::write() {
  if (!page_) return;
  page_->write(page_of({json_}));
  page_->commit();
}

void add_report_command(CLI::App& program) {
  const auto command = std::make_shared<ReportCommand>();
  CLI::App& app = *program.add_subcommand("report", "One page with plots, of one or more results");
  app.add_option("RESULT", command->results, "files that --json wrote, of any measure")->required();
  app.add_option("-o,--out", command->out, "the page to write [report.html]")->type_name("FILE");
  app.footer(R"(Examples:
  harmonia report result.json -o report.html
  harmonia report compare.json sweep-a.json sweep-b.json -o report.html

The page holds all that it needs: it opens without a network, can be mailed and printed. Sweeps share one plot.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
