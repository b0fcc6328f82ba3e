#include "saved_gamma.hpp"

#include <fmt/format.h>

#include "gamma_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail(const ResultFile& file, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{}: {}", printable(file.name, 500), what));
}

Json schema_list(const Schema& schema) {
  Json list = Json::array();
  for (const Feature& f : schema) {
    list.push_back({{"name", f.name},
                    {"scale", f.scale},
                    {"lower", or_null(f.lower)},
                    {"upper", or_null(f.upper)},
                    {"integer", f.integer},
                    {"fixed", f.fixed},
                    {"mirrored", f.mirrored}});
  }
  return list;
}

Schema read_features(const ResultFile& file, const ResultField& list, const std::string& owner) {
  Schema schema;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const ResultField entry = list.at(j);
    Feature feature;
    feature.name = entry.at("name").text();
    feature.scale = positive_number(file, entry, "scale", owner);
    feature.has_scale = true;
    if (entry.has("lower")) feature.lower = entry.at("lower").number();
    if (entry.has("upper")) feature.upper = entry.at("upper").number();
    feature.integer = read_flag(file, entry, "integer", owner);
    feature.fixed = read_flag(file, entry, "fixed", owner);
    feature.mirrored = entry.has("mirrored") && read_flag(file, entry, "mirrored", owner);
    schema.push_back(std::move(feature));
  }
  return schema;
}

}  // namespace

Json saved_gamma_json(const GammaOptions& o, const std::string& scale) {
  return {{"radius", o.ball.radius},
          {"ball", ball_name(o.ball)},
          {"average", o.ball.average == Average::solid ? "solid" : "surface"},
          {"sample", o.sample},
          {"precision", o.precision},
          {"floor", o.floor},
          {"scale", scale},
          {"schema", schema_list(o.schema)}};
}

GammaOptions read_saved_gamma(const ResultFile& file, const ResultField& field, const std::string& owner) {
  GammaOptions options;
  try {
    options.ball = parse_ball(field.at("ball").text());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::input) throw;
    fail(file, error.what());
  }
  options.ball.radius = positive_number(file, field, "radius", owner);
  options.ball.average = field.at("average").text() == "solid" ? Average::solid : Average::surface;
  options.sample = field.at("sample").count();
  options.precision = field.at("precision").number();
  options.floor = field.at("floor").number();
  options.schema = read_features(file, field.at("schema"), owner);
  return options;
}

double positive_number(const ResultFile& file, const ResultField& field, const char* key,
                       const std::string& owner) {
  const double value = field.at(key).number();
  if (!(value > 0)) fail(file, fmt::format("{}'s {} is {}; expected a number above 0", owner, key, value));
  return value;
}

bool read_flag(const ResultFile& file, const ResultField& field, const char* key, const std::string& owner) {
  const Json& json = field.at(key).json();
  if (!json.is_boolean()) fail(file, fmt::format("{}'s {} is neither true nor false", owner, key));
  return json.get<bool>();
}

}  // namespace harmonia
