#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "gamma_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/report/gamma_report.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

std::string head_line(const GammaRunRecord& record) {
  Json head{{"harmonia_journal", 1},           {"version", HARMONIA_VERSION}, {"model", record.model.name},
            {"outputs", record.model.outputs}, {"data", record.data.source},  {"inputs", record.data.inputs},
            {"options", options_json(record)}};
  if (!record.model.sha256.empty()) head["sha256"] = record.model.sha256;
  return head.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome outcome_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Outcome::undefined); ++i) {
    if (outcome_name(static_cast<Outcome>(i)) == name) return static_cast<Outcome>(i);
  }
  throw std::runtime_error("no such outcome");
}

template <class T>
std::optional<T> optional_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

GammaRow row_of(const Json& json) {
  GammaRow row;
  row.row = json.at("row");
  row.id = json.value("id", "");
  row.label = json.value("label", "");
  row.segment = json.value("segment", "");
  row.column = optional_of<std::size_t>(json, "column");
  row.decided_class = optional_of<long long>(json, "class");
  row.value = optional_of<double>(json, "value");
  row.gamma = optional_of<double>(json, "gamma");
  row.low = optional_of<double>(json, "low");
  row.high = optional_of<double>(json, "high");
  row.delta = optional_of<double>(json, "delta");
  row.laplacian = optional_of<double>(json, "laplacian");
  row.split = optional_of<double>(json, "split");
  row.standard_error = optional_of<double>(json, "stderr");
  row.points = json.at("points");
  row.outcome = outcome_of(json.at("outcome"));
  row.moved = json.at("moved");
  row.shortened = json.value("shortened", std::size_t{0});
  row.fingerprint = json.at("fingerprint");
  for (const Json& value : json.value("x", Json::array())) {
    row.x.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  for (const Json& part : json.value("explain", Json::array())) {
    row.explain.push_back({part.at("column"), part.at("contribution")});
  }
  return row;
}

}  // namespace

GammaJournal::GammaJournal(const std::string& path, const GammaRunRecord& record)
    : path_(path), record_(record) {
  const std::string head = head_line(record);
  std::uintmax_t whole = 0;  // bytes up to the end of the last whole row
  if (std::ifstream in(path, std::ios::binary); in) {
    std::string line;
    const bool any = static_cast<bool>(std::getline(in, line));
    if (any && line != head) {
      throw Error(
          ErrorCode::input,
          fmt::format("{} is the journal of another run (or none); name another file, or remove it", path));
    }
    const std::size_t entries =
        record.options.output.kind == OutputChoice::Kind::all ? record.model.outputs : 1;
    whole = any ? static_cast<std::uintmax_t>(line.size()) + 1 : 0;
    std::vector<GammaRow> rows;
    std::uintmax_t read = whole;
    try {
      while (std::getline(in, line) && !in.eof()) {
        rows.push_back(row_of(Json::parse(line)));
        read += line.size() + 1;
        if (rows.front().outcome == Outcome::budget) break;  // from here on the evaluations had run out
        if (rows.size() < entries) continue;
        done_.insert(done_.end(), rows.begin(), rows.end());
        rows.clear();
        whole = read;
      }
    } catch (const std::exception&) {
      // A line that a killed run did not finish: measured again.
    }
  }
  if (whole > 0) std::filesystem::resize_file(path, whole);
  out_.open(path, std::ios::binary | std::ios::app);
  if (whole == 0) out_ << head << '\n' << std::flush;
  if (!out_) throw Error(ErrorCode::input, fmt::format("cannot write the journal {}", path));
}

void GammaJournal::add(const GammaRow& row) {
  Json json = row_json(row, record_);
  json["moved"] = row.moved;
  json["fingerprint"] = row.fingerprint;
  if (!row.x.empty()) json["x"] = values_json(row.x);
  out_ << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void GammaJournal::flush() {
  if (!out_.flush()) throw Error(ErrorCode::input, fmt::format("cannot write the journal {}", path_));
}

void GammaJournal::finish(bool complete) {
  out_.close();
  if (complete) std::remove(path_.c_str());
}

}  // namespace harmonia
