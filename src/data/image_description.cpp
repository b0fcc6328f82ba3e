#include "harmonia/data/image_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "../core/json_kind.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "json_text.hpp"
#include "whole_file.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestSide = 10'000;

// Reads one description; every message begins with the file and the entry.
class DescriptionReader {
 public:
  explicit DescriptionReader(const std::string& path) : path_(path) {}

  ImageDescription read(const Json& json) {
    if (!json.is_object()) fail(fmt::format("found {}; expected an object", json_kind(json)));
    for (const auto& [key, value] : json.items()) read_entry(key, value);
    if (d_.shape.height == 0 || d_.shape.width == 0) fail("height and width are not both given");
    if (d_.model_channels == 0) fail("channels is not given; expected \"rgb\", \"bgr\" or \"grey\"");
    if (d_.shape.channels == 0) d_.shape.channels = d_.model_channels;
    if (d_.shape.channels > d_.model_channels)
      fail("measure is \"colour\", and channels \"grey\"; expected a model that takes colours");
    for (auto [name, list] : {std::pair{"mean", &d_.mean}, std::pair{"std", &d_.deviation}}) {
      if (list->size() == 1) list->resize(d_.model_channels, list->front());
      if (!list->empty() && list->size() != d_.model_channels)
        fail(fmt::format("{} has {} numbers; expected {}, one a channel", name, list->size(),
                         d_.model_channels));
    }
    if (d_.resize != 0 && d_.resize < std::max(d_.shape.height, d_.shape.width))
      fail(fmt::format("resize is {}; expected at least the {}×{} that are cut out of it", d_.resize,
                       d_.shape.height, d_.shape.width));
    if (d_.resize != 0 && d_.fit == ImageFit::stretch)
      fail("resize is given, and fit is \"stretch\", which has no use for it; expected one of them");
    return d_;
  }

 private:
  void read_entry(const std::string& key, const Json& value) {
    if (key == "height") {
      d_.shape.height = side(key, value);
    } else if (key == "width") {
      d_.shape.width = side(key, value);
    } else if (key == "resize") {
      d_.resize = side(key, value);
    } else if (key == "channels") {
      const std::size_t which = one_of(key, value, {"rgb", "bgr", "grey"});
      d_.model_channels = which == 2 ? 1 : 3;
      d_.reversed = which == 1;
    } else if (key == "measure") {
      d_.shape.channels = one_of(key, value, {"grey", "colour"}) == 0 ? 1 : 3;
    } else if (key == "layout") {
      d_.channels_first = one_of(key, value, {"nchw", "nhwc"}) == 0;
    } else if (key == "fit") {
      d_.fit = one_of(key, value, {"crop", "stretch"}) == 0 ? ImageFit::crop : ImageFit::stretch;
    } else if (key == "outputs") {
      d_.probabilities = one_of(key, value, {"logits", "probabilities"}) == 1;
    } else if (key == "range") {
      read_range(value);
    } else if (key == "mean") {
      d_.mean = numbers(key, value);
    } else if (key == "std") {
      d_.deviation = numbers(key, value);
      for (const double deviation : d_.deviation) {
        if (!(deviation > 0)) fail(fmt::format("std holds {}; expected numbers above 0", deviation));
      }
    } else if (key == "classes") {
      read_classes(value);
    } else {
      fail(fmt::format(
          "{} is not known; known are height, width, channels, measure, layout, range, mean, std, "
          "fit, resize, outputs and classes",
          in_quotes(key)));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("{}: {}", path_, what));
  }

  [[noreturn]] void wrong(const std::string& key, const Json& found, const std::string& expected) const {
    fail(fmt::format("{} is {}; expected {}", key, json_kind(found), expected));
  }

  std::size_t side(const std::string& key, const Json& value) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > kLongestSide)
      wrong(key, value, fmt::format("a whole number of pixels from 1 to {}", kLongestSide));
    return value.get<std::size_t>();
  }

  double number(const std::string& key, const Json& value) const {
    if (!value.is_number() || !std::isfinite(value.get<double>())) wrong(key, value, "a finite number");
    return value.get<double>();
  }

  std::vector<double> numbers(const std::string& key, const Json& value) const {
    if (value.is_number()) return {number(key, value)};
    if (!value.is_array() || value.empty()) wrong(key, value, "a number, or a list of one a channel");
    std::vector<double> list;
    for (const Json& entry : value) list.push_back(number("an entry of " + key, entry));
    return list;
  }

  std::size_t one_of(const std::string& key, const Json& value, std::vector<std::string> words) const {
    if (value.is_string()) {
      const auto found = std::find(words.begin(), words.end(), value.get_ref<const std::string&>());
      if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    }
    std::string expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
      expected += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
    }
    wrong(key, value, expected);
  }

  void read_range(const Json& value) {
    if (!value.is_array() || value.size() != 2) wrong("range", value, "[WHAT 0 BECOMES, WHAT 255 BECOMES]");
    d_.range = {number("the range's first number", value[0]), number("the range's second number", value[1])};
    if (d_.range[0] == d_.range[1])
      fail(fmt::format("range is twice {}; expected two different numbers", d_.range[0]));
  }

  void read_classes(const Json& value) {
    if (value.is_string()) return read_class_file(value.get<std::string>());
    if (!value.is_array()) wrong("classes", value, "a list of names, or the name of a file of one a line");
    for (const Json& name : value) {
      if (!name.is_string()) wrong("an entry of classes", name, "a name");
      d_.classes.push_back(name.get<std::string>());
    }
  }

  // Relative to the description, so that the two may be moved together.
  void read_class_file(const std::string& name) {
    const std::string file = (std::filesystem::path(path_).parent_path() / name).string();
    std::istringstream lines(read_whole_file(file, 64, "class names, one a line"));
    for (std::string line; std::getline(lines, line);) d_.classes.emplace_back(trim(line));
    while (!d_.classes.empty() && d_.classes.back().empty()) d_.classes.pop_back();
    if (d_.classes.empty()) fail(fmt::format("classes: {} names none; expected one a line", file));
  }

  std::string path_;
  ImageDescription d_;
};

constexpr std::array<std::string_view, 3> kRangeNames{"free", "symmetric", "reflect"};

ImageShape parse_size(const std::string& text) {
  ImageShape shape;
  const std::size_t cross = text.find('x');
  const auto read = [](std::string_view part, std::size_t& number) {
    const char* const end = part.data() + part.size();
    return std::from_chars(part.data(), end, number) == std::from_chars_result{end, std::errc{}} &&
           number > 0 && number <= kLongestSide;
  };
  const std::string_view all = text;
  if (cross == std::string::npos || !read(all.substr(0, cross), shape.height) ||
      !read(all.substr(cross + 1), shape.width)) {
    throw Error(ErrorCode::usage, fmt::format("--size {}; expected HEIGHTxWIDTH in pixels, from 1 to {} each",
                                              in_quotes(text), kLongestSide));
  }
  return shape;
}

}  // namespace

ImageDescription read_image_description(const std::string& text, const std::string& path) {
  return DescriptionReader(path).read(parse_json(path, text));
}

ImageDescription load_image_description(const std::string& path) {
  return read_image_description(read_whole_file(path, 64, "a description of images"), path);
}

std::optional<std::string> description_beside(const std::string& model) {
  std::error_code ignored;
  std::filesystem::path path(model);
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  path.replace_extension(".image.json");
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  return path.string();
}

AskedImages ask_images(const std::string& model, const ImageOptions& options) {
  AskedImages asked;
  asked.path = options.description.empty() ? description_beside(model).value_or("") : options.description;
  if (!asked.path.empty()) {
    asked.description = load_image_description(asked.path);
    asked.shape = asked.description->shape;
    asked.fit = asked.description->fit;
    asked.resize = asked.description->resize;
  }
  if (!options.size.empty()) {
    const ImageShape size = parse_size(options.size);
    const std::size_t shorter = std::min(asked.shape.height, asked.shape.width);
    // What is cut off at the edges stays the same part of an image.
    if (asked.resize != 0) asked.resize = asked.resize * std::min(size.height, size.width) / shorter;
    asked.shape.height = size.height;
    asked.shape.width = size.width;
  }
  if (options.grey) asked.shape.channels = 1;
  if (asked.description) asked.description->shape = asked.shape;
  return asked;
}

PixelRange parse_pixel_range(const std::string& text) {
  for (std::size_t i = 0; i < kRangeNames.size(); ++i) {
    if (text == kRangeNames[i]) return static_cast<PixelRange>(i);
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("pixel range {} is not known; expected free, symmetric or reflect", in_quotes(text)));
}

std::string pixel_range_name(PixelRange range) {
  return std::string(kRangeNames[static_cast<std::size_t>(range)]);
}

void bound_pixels(Schema& schema, std::size_t inputs, PixelRange range) {
  if (range == PixelRange::free) return;
  if (schema.empty()) {
    schema.resize(inputs);
    for (std::size_t j = 0; j < inputs; ++j) schema[j].name = fmt::format("x{}", j);
  }
  for (Feature& feature : schema) {
    feature.lower = std::max(feature.lower, 0.0);
    feature.upper = std::min(feature.upper, 255.0);
    feature.mirrored = range == PixelRange::reflect;
  }
}

}  // namespace harmonia
