#include "whole_result.hpp"

#include "harmonia/report/report_page.hpp"
#include "report_command.hpp"

namespace harmonia {

WholeResult::WholeResult(const RunOptions& run) {
  if (!run.json.empty()) json_ = std::make_unique<AtomicFile>(run.json);
  if (!run.csv.empty()) csv_ = std::make_unique<AtomicFile>(run.csv);
  if (run.html.empty()) return;
  check_report();
  html_ = std::make_unique<AtomicFile>(run.html);
}

void WholeResult::put(std::unique_ptr<AtomicFile>& file, const std::string& text) {
  if (!file) return;
  file->write(text);
  file->commit();
}

void WholeResult::put_page(const std::string& json) {
  if (html_) put(html_, report_page({json}));
}

}  // namespace harmonia
