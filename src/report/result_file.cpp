#include "harmonia/report/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../core/json_kind.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "result_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "harmonia/1";
constexpr int kDeepest = 32;  // levels of nesting; results have six

[[noreturn]] void fail(const ResultFile& file, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}{}", printable(file.name, 500), what));
}

// A text that stops too early says so: it is what a copy that broke off leaves.
[[noreturn]] void fail_parse(const ResultFile& file, std::size_t byte) {
  // The parser counts from 1 and is one past the end when the text stops too early.
  const std::size_t end = file.text.find_last_not_of(" \t\r\n") + 1;
  if (byte > end) {
    fail(file, fmt::format(" breaks off after {} bytes; expected a whole result", file.text.size()));
  }
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, file.text.size());
  const auto line =
      1 + std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t start = at == 0 ? std::string::npos : file.text.rfind('\n', at - 1);
  fail(file, fmt::format(" line {}, byte {}: not valid JSON", line,
                         start == std::string::npos ? byte : at - start));
}

void check_frame(const ResultFile& file, const Json& frame, const std::vector<std::string>& commands) {
  if (!frame.is_object() || !frame.contains("schema")) {
    fail(file, fmt::format(R"( is no result: expected {{"schema": "{}", "command": …}})", kSchema));
  }
  const ResultField field(file, frame);
  if (const std::string& schema = field.at("schema").text(); schema != kSchema) {
    fail(file, fmt::format(" has schema {}; this version reads {}", in_quotes(schema), kSchema));
  }
  const auto options = frame.find("options");
  if (options != frame.end() && options->is_object() && options->contains("confidence")) {
    const double confidence = field.at("options").at("confidence").number();
    if (!(confidence > 0 && confidence < 1)) {
      fail(file, fmt::format(": options.confidence is {}; expected between 0 and 1", confidence));
    }
  }
  const std::string& command = field.at("command").text();
  if (commands.empty() || std::find(commands.begin(), commands.end(), command) != commands.end()) return;
  fail(file,
       fmt::format(" is a result of {}; expected one of {}", in_quotes(command), fmt::join(commands, ", ")));
}

}  // namespace

ResultFile read_result_file(const std::string& path) {
  ResultFile file{path, {}};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(file, " is a directory; expected a result file");
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(file, fmt::format(": {}", errno == ENOENT ? "no such file" : std::strerror(errno)));
  // Looked at before the rest is read: a picture or a model of gigabytes is not.
  int first = in.get();
  while (first == ' ' || first == '\n' || first == '\r' || first == '\t') first = in.get();
  if (first == std::ifstream::traits_type::eof()) fail(file, " is empty; expected a result");
  if (first != '{' && first != 0xEF) {
    fail(file, fmt::format(R"( is no result: expected {{"schema": "{}", "command": …}})", kSchema));
  }
  in.unget();
  file.text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  if (in.bad()) fail(file, " cannot be read to its end");
  return file;
}

std::string result_command(const ResultFile& file, const std::vector<std::string>& commands) {
  return parse_result(file, commands, [](Json&) {}).at("command");
}

Json parse_result(const ResultFile& file, const std::vector<std::string>& commands,
                  const ResultRowSink& sink) {
  if (file.text.find_first_not_of(" \t\r\n") == std::string::npos) fail(file, " is empty; expected a result");
  bool in_rows = false;
  std::size_t rows = 0;
  Json kept = Json::array();
  // Rows leave the parser as they are done: it looks through all it has kept at the end of each.
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) fail(file, fmt::format(" is nested deeper than {} levels; no result is", kDeepest));
    if (depth == 1 && event == Json::parse_event_t::key) in_rows = value == "rows";
    if (!in_rows || depth != 2) return true;
    if (event == Json::parse_event_t::value || event == Json::parse_event_t::array_end) {
      fail(file, fmt::format(": rows[{}] is {}; expected an object", rows, json_kind(value)));
    }
    if (event != Json::parse_event_t::object_end) return true;
    ++rows;
    if (sink) {
      sink(value);
    } else {
      kept.push_back(std::move(value));
    }
    return false;
  };
  Json frame;
  try {
    frame = Json::parse(file.text, watch);
  } catch (const Json::parse_error& error) {
    fail_parse(file, error.byte);
  } catch (const Json::exception&) {
    fail(file, " holds a number that is too large for a double");
  }
  check_frame(file, frame, commands);
  if (const auto found = frame.find("rows"); found != frame.end()) {
    ResultField(file, frame).at("rows").list();
    if (!sink) *found = std::move(kept);
  }
  return frame;
}

ResultField ResultField::at(const std::string& key) const {
  if (!json_->is_object()) wrong("an object");
  const auto found = json_->find(key);
  if (found == json_->end()) {
    fail(*file_, fmt::format("{}{} has no {}", place_.empty() ? "" : ": ", place_, in_quotes(key)));
  }
  ResultField field(*file_, *found);
  field.place_ = place_.empty() ? key : fmt::format("{}.{}", place_, key);
  return field;
}

bool ResultField::has(const std::string& key) const {
  if (!json_->is_object()) wrong("an object");
  const auto found = json_->find(key);
  return found != json_->end() && !found->is_null();
}

ResultField ResultField::at(std::size_t index) const {
  ResultField field(*file_, list().at(index));
  field.place_ = fmt::format("{}[{}]", place_, index);
  return field;
}

std::size_t ResultField::size() const { return list().size(); }

double ResultField::number() const {
  if (!json_->is_number()) wrong("a number");
  return json_->get<double>();
}

double ResultField::number_or_nan() const {
  return json_->is_null() ? std::numeric_limits<double>::quiet_NaN() : number();
}

std::size_t ResultField::count() const {
  if (!json_->is_number_unsigned()) wrong("a whole number");
  return json_->get<std::size_t>();
}

const std::string& ResultField::text() const {
  if (!json_->is_string()) wrong("a text");
  return json_->get_ref<const std::string&>();
}

const Json& ResultField::object() const {
  if (!json_->is_object()) wrong("an object");
  return *json_;
}

const Json& ResultField::list() const {
  if (!json_->is_array()) wrong("a list");
  return *json_;
}

void ResultField::wrong(const std::string& expected) const {
  fail(*file_, fmt::format(": {} is {}; expected {}", printable(place_.empty() ? "the whole" : place_),
                           json_kind(*json_), expected));
}

}  // namespace harmonia
