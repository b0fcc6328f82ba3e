#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harmonia/report/result_file.hpp"

namespace harmonia {

/// Takes one entry of a result's "rows".
using ResultRowSink = std::function<void(nlohmann::ordered_json& row)>;

/// Parses a result and checks its frame as result_command() says. Rows go to `sink` one at a time, and the
/// frame's own "rows" is left empty, so that a result of many rows needs no memory for them; without a sink
/// they stay in the frame.
nlohmann::ordered_json parse_result(const ResultFile& file, const std::vector<std::string>& commands = {},
                                    const ResultRowSink& sink = {});

/// Fields of a result, looked up with their types. What is missing or of another type is an Error(input) that
/// names the file, the place and what was found.
class ResultField {
 public:
  using Json = nlohmann::ordered_json;

  /// `json` must outlive the field.
  ResultField(const ResultFile& file, const Json& json) : file_(&file), json_(&json) {}

  /// A field that must be there.
  ResultField at(const std::string& key) const;
  /// Whether it is there and not null.
  bool has(const std::string& key) const;
  /// An element of a list.
  ResultField at(std::size_t index) const;
  /// How many elements a list has.
  std::size_t size() const;

  double number() const;
  /// NaN for null.
  double number_or_nan() const;
  std::size_t count() const;
  const std::string& text() const;
  const Json& object() const;
  const Json& list() const;
  const Json& json() const { return *json_; }

 private:
  [[noreturn]] void wrong(const std::string& expected) const;

  const ResultFile* file_;
  const Json* json_;
  std::string place_;  // such as summary.gamma
};

}  // namespace harmonia
