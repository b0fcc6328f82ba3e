#include <fmt/format.h>

#include <algorithm>

#include "gamma_json.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

GammaJsonWriter::GammaJsonWriter(const std::string& path, const GammaRunRecord& record)
    : GammaJsonWriter(std::make_unique<AtomicFile>(path), record) {}

GammaJsonWriter::GammaJsonWriter(std::unique_ptr<AtomicFile> file, const GammaRunRecord& record)
    : GammaJsonWriter([out = file.get()](std::string_view text) { out->write(text); }, record) {
  file_ = std::move(file);
}

GammaJsonWriter::GammaJsonWriter(std::function<void(std::string_view)> write, const GammaRunRecord& record)
    : write_(std::move(write)), record_(record) {
  Json head{{"schema", "harmonia/1"},
            {"command", "gamma"},
            {"model", model_json(record.model, "path")},
            {"options", options_json(record)},
            {"command_line", record.command_line}};
  std::string text = dump(head);
  text.pop_back();  // the brace: rows and summary follow
  write_(text + ",\n\"rows\": [");
}

void GammaJsonWriter::add(const GammaRow& row) {
  write_(empty_ ? "\n" : ",\n");
  write_(dump(row_json(row, record_)));
  empty_ = false;
  worst_.add(row);
}

void GammaJsonWriter::finish(const GammaSummary& summary, double seconds,
                             const std::vector<ShownImage>& images) {
  std::size_t rows = 0;
  for (const std::size_t count : summary.outcomes) rows += count;
  Json summed = summary_json(summary, record_);
  summed["worst"] = worst_json(worst_, record_);
  if (!images.empty()) summed["images"] = shown_images_json(images);
  Json data = data_json(record_.data, rows);
  data["fingerprint"] = fmt::format("{:016x}", summary.fingerprint);
  Json tail{{"data", std::move(data)},
            {"summary", std::move(summed)},
            {"evaluations", summary.evaluations},
            {"seconds", seconds},
            {"version", HARMONIA_VERSION}};
  write_("\n],\n" + dump(tail).substr(1) + "\n");
  if (file_) file_->commit();
}

GammaCsvWriter::GammaCsvWriter(const std::string& path, const GammaRunRecord& record)
    : file_(path), record_(record) {
  file_.write(
      "row,id,label,segment,column,class,value,gamma,low,high,delta,laplacian,split,stderr,points,outcome,"
      "explain\n");
}

void GammaCsvWriter::add(const GammaRow& row) {
  std::string explain;
  for (const Contribution& part : row.explain) {
    explain += fmt::format("{}{}={}", explain.empty() ? "" : "; ", feature_name(record_.data, part.feature),
                           part.value);
  }
  file_.write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.row, csv_field(row.id),
                          csv_field(row.label), csv_field(row.segment), csv_field(row.column),
                          csv_field(row.decided_class), csv_field(row.value), csv_field(row.gamma),
                          csv_field(row.low), csv_field(row.high), csv_field(row.delta),
                          csv_field(row.laplacian), csv_field(row.split), csv_field(row.standard_error),
                          row.points, outcome_name(row.outcome), csv_field(explain)));
}

void WorstRows::add(const GammaRow& row) {
  if (!row.gamma || (rows_.size() == count_ && (count_ == 0 || *row.gamma <= *rows_.back().gamma))) return;
  const auto place =
      std::upper_bound(rows_.begin(), rows_.end(), row,
                       [](const GammaRow& a, const GammaRow& b) { return *a.gamma > *b.gamma; });
  rows_.insert(place, row);
  if (rows_.size() > count_) rows_.pop_back();
}

}  // namespace harmonia
