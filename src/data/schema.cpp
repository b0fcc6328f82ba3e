#include "harmonia/data/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "../core/json_kind.hpp"
#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "json_text.hpp"
#include "number_text.hpp"
#include "whole_file.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}{}", path, what));
}

// Reads the object of one feature; every message begins with the file and the feature's name.
class FeatureReader {
 public:
  FeatureReader(const std::string& path, const std::string& name)
      : where_(fmt::format("{}: feature {}: ", path, in_quotes(name))) {}

  void read(const Json& object, Feature& feature) const {
    if (!object.is_object()) wrong("found", object, "an object");
    for (const auto& [key, value] : object.items()) {
      if (key == "scale") {
        feature.scale = number(key, value);
        feature.has_scale = true;
        if (!(feature.scale > 0))
          fail(where_, fmt::format("scale is {}; expected more than 0", feature.scale));
      } else if (key == "bounds") {
        read_bounds(value, feature);
      } else if (key == "integer") {
        feature.integer = boolean(key, value);
      } else if (key == "categorical" || key == "immutable") {
        feature.fixed = boolean(key, value) || feature.fixed;
      } else {
        fail(where_,
             fmt::format("{} is not known; known are scale, bounds, integer, categorical and immutable",
                         in_quotes(key)));
      }
    }
  }

 private:
  [[noreturn]] void wrong(std::string_view what, const Json& found, std::string_view expected) const {
    fail(where_, fmt::format("{} {}; expected {}", what, json_kind(found), expected));
  }

  double number(std::string_view what, const Json& value) const {
    if (!value.is_number()) wrong(fmt::format("{} is", what), value, "a number");
    const double result = value.get<double>();
    if (!std::isfinite(result)) wrong(fmt::format("{} is", what), value, "a finite number");
    return result;
  }

  bool boolean(std::string_view what, const Json& value) const {
    if (!value.is_boolean()) wrong(fmt::format("{} is", what), value, "true or false");
    return value.get<bool>();
  }

  void read_bounds(const Json& value, Feature& feature) const {
    if (!value.is_array() || value.size() != 2) wrong("bounds is", value, "[LOWER, UPPER]");
    if (!value[0].is_null()) feature.lower = number("the lower bound", value[0]);
    if (!value[1].is_null()) feature.upper = number("the upper bound", value[1]);
    if (feature.lower > feature.upper) {
      fail(where_,
           fmt::format("bounds are {} and {}; expected the lower one first", feature.lower, feature.upper));
    }
  }

  std::string where_;
};

}  // namespace

Schema plain_schema(const std::vector<std::string>& names) {
  Schema schema(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) schema[i].name = names[i];
  return schema;
}

Schema load_schema(const std::string& path, const std::vector<std::string>& names) {
  return read_schema(read_whole_file(path, 64, "a schema"), path, names);
}

Schema read_schema(const std::string& text, const std::string& path, const std::vector<std::string>& names) {
  const Json json = parse_json(path, text);
  if (!json.is_object() || !json.contains("features") || !json["features"].is_object()) {
    fail(path, R"(: expected {"features": {NAME: {…}, …}})");
  }
  for (const auto& [key, value] : json.items()) {
    if (key != "features")
      fail(path, fmt::format(": {} is not known; expected features alone", in_quotes(key)));
  }
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]].push_back(i);
  Schema schema = plain_schema(names);
  for (const auto& [name, object] : json["features"].items()) {
    const auto found = places.find(name);
    if (found == places.end()) {
      fail(path, fmt::format(": the data has no feature {}; it has {}", in_quotes(name), list_names(names)));
    }
    if (found->second.size() > 1) {
      fail(path, fmt::format(": the data has {} features named {}; which is meant is not clear",
                             found->second.size(), in_quotes(name)));
    }
    FeatureReader(path, name).read(object, schema[found->second[0]]);
  }
  return schema;
}

}  // namespace harmonia
