#include "harmonia/data/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/convex_hull.hpp"

namespace harmonia {
namespace {

[[noreturn]] void fail(const std::string& region, const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("region {}: {}", in_quotes(region), what));
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (bool last = false; !last;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    last = comma == std::string_view::npos;
    if (!last) text.remove_prefix(comma + 1);
  }
  return parts;
}

class Box final : public Region {
 public:
  Box(const std::string& text, const DataInfo& data) {
    const std::vector<std::string> parts = split(std::string_view(text).substr(4));
    const bool named = text.find('=') != std::string::npos;
    if (!named && parts.size() != data.inputs) {
      fail(text, fmt::format("{} for {}; expected one each, or NAME=LOW..HIGH",
                             counted(parts.size(), "range"), counted(data.inputs, "feature")));
    }
    const std::vector<std::string> names = named ? feature_names(data) : std::vector<std::string>{};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      std::string_view range = parts[k];
      std::size_t column = k;
      if (named) {
        const std::size_t equals = range.find('=');
        const std::string name(range.substr(0, equals));
        const auto found = std::find(names.begin(), names.end(), name);
        if (equals == std::string_view::npos || found == names.end()) {
          fail(text,
               fmt::format("{} names no feature; features are {}", in_quotes(range), list_names(names)));
        }
        column = static_cast<std::size_t>(found - names.begin());
        range.remove_prefix(equals + 1);
      }
      sides_.push_back(side_of(text, column, range));
    }
  }

  bool contains(std::span<const double> x) const override {
    return std::all_of(sides_.begin(), sides_.end(), [&](const Side& side) {
      return side.low <= x[side.column] && x[side.column] <= side.high;
    });
  }

 private:
  struct Side {
    std::size_t column;
    double low, high;
  };

  static Side side_of(const std::string& text, std::size_t column, std::string_view range) {
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) fail(text, fmt::format("{} is not LOW..HIGH", in_quotes(range)));
    constexpr double kEnd = std::numeric_limits<double>::infinity();
    const auto end_of = [&](std::string_view part, double none) {
      if (part.empty()) return none;
      const auto value = read_number(part);
      if (!value || std::isnan(*value)) fail(text, fmt::format("{} is not LOW..HIGH", in_quotes(range)));
      return *value;
    };
    const Side side{column, end_of(range.substr(0, dots), -kEnd), end_of(range.substr(dots + 2), kEnd)};
    if (side.high < side.low) fail(text, fmt::format("{} goes down; expected LOW <= HIGH", in_quotes(range)));
    return side;
  }

  std::vector<Side> sides_;
};

class Hull final : public Region {
 public:
  Hull(const std::string& text, const DataInfo& data) : hull_(read(text, data)) {}
  bool contains(std::span<const double> x) const override { return hull_.contains(x); }

 private:
  static Matrix<double> read(const std::string& text, const DataInfo& data) {
    std::string file = text.substr(5);
    DataOptions options;
    if (const std::size_t question = file.rfind("?columns="); question != std::string::npos) {
      options.columns = split(std::string_view(file).substr(question + 9));
      file.resize(question);
    }
    const std::vector<std::string> plain = numbered_names(data.inputs);
    const bool by_name = options.columns.empty() && !file.ends_with(".npy") && !data.features.empty() &&
                         data.features != plain;
    if (by_name) options.columns = data.features;
    const auto source = open_data(file, options);
    if (source->info().inputs != data.inputs) {
      throw Error(ErrorCode::input,
                  fmt::format("hull of {}: {}; the data has {} (?columns=A,B chooses)", file,
                              counted(source->info().inputs, "column"), counted(data.inputs, "feature")));
    }
    std::vector<double> values;
    RowBlock block;
    while (source->read(block, rows_per_block(data.inputs))) {
      const double* const from = block.values.view().data;
      const std::size_t size = block.values.rows() * data.inputs;
      const double* const missing = std::find_if(from, from + size, [](double v) { return std::isnan(v); });
      if (missing != from + size) {
        throw Error(ErrorCode::input,
                    fmt::format("hull of {}: row {} has a missing value; a hull takes whole rows", file,
                                block.number(static_cast<std::size_t>(missing - from) / data.inputs)));
      }
      values.insert(values.end(), from, from + size);
    }
    Matrix<double> points(values.size() / data.inputs, data.inputs);
    std::copy(values.begin(), values.end(), points.view().data);
    return points;
  }

  ConvexHull hull_;
};

}  // namespace

std::unique_ptr<Region> open_region(const std::string& text, const DataInfo& data) {
  if (text.starts_with("box:")) return std::make_unique<Box>(text, data);
  if (text.starts_with("hull:")) return std::make_unique<Hull>(text, data);
  fail(text, "expected box:LOW..HIGH,…, box:NAME=LOW..HIGH,… or hull:FILE");
}

}  // namespace harmonia
