#include "column_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::usage, message); }

// Finds columns by name or number.
class ColumnIndex {
 public:
  ColumnIndex(const std::string& source, const std::vector<std::string>& names)
      : source_(source), names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) places_[names[i]].push_back(i);
  }

  std::size_t find(const std::string& column) const {
    if (const auto place = places_.find(column); place != places_.end()) {
      const std::vector<std::size_t>& at = place->second;
      if (at.size() == 1) return at[0];
      fail(fmt::format("{} has {} columns named {} (numbers {} and {}); give a number", source_, at.size(),
                       in_quotes(column), at[0], at[1]));
    }
    std::size_t number = names_.size();
    if (is_column_number(column)) std::from_chars(column.data(), column.data() + column.size(), number);
    if (number < names_.size()) return number;
    fail(fmt::format("{} has no column {}; it has {}", source_, in_quotes(column), list_names(names_)));
  }

 private:
  const std::string& source_;
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;
};

}  // namespace

ColumnChoice choose_columns(const std::string& source, const std::vector<std::string>& names,
                            const DataOptions& options) {
  enum class Use : char { none, feature, dropped, carried };
  std::vector<Use> uses(names.size(), Use::none);
  ColumnChoice choice;
  if (!options.columns.empty() || !options.drop.empty() || !options.id.empty() || !options.label.empty() ||
      !options.by.empty()) {
    const ColumnIndex index(source, names);
    for (const std::string& column : options.columns) {
      const std::size_t i = index.find(column);
      if (uses[i] == Use::feature) fail(fmt::format("column {} is twice in --columns", in_quotes(column)));
      uses[i] = Use::feature;
      choice.features.push_back(i);
    }
    for (const std::string& column : options.drop) {
      const std::size_t i = index.find(column);
      if (uses[i] == Use::feature)
        fail(fmt::format("column {} is both in --columns and in --drop", in_quotes(column)));
      uses[i] = Use::dropped;
    }
    const auto carry = [&](const std::string& column, std::string_view option) -> std::optional<std::size_t> {
      if (column.empty()) return std::nullopt;
      const std::size_t i = index.find(column);
      if (uses[i] == Use::feature)
        fail(fmt::format("column {} is both in --columns and {}", in_quotes(column), option));
      uses[i] = Use::carried;
      return i;
    };
    choice.id = carry(options.id, "--id");
    choice.label = carry(options.label, "--label");
    // A segment may be a feature too, if --columns says so.
    if (!options.by.empty()) {
      choice.segment = index.find(options.by);
      if (uses[*choice.segment] == Use::none) uses[*choice.segment] = Use::carried;
    }
  }
  if (options.columns.empty()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (uses[i] == Use::none) choice.features.push_back(i);
    }
  }
  if (choice.features.empty()) {
    fail(fmt::format("{} has no columns left for the model; it has {}", source, list_names(names)));
  }
  return choice;
}

bool is_column_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> numbered_names(std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    list += (i == 0 ? "" : ", ") + printable(names[i]);
  return names.size() > kMost ? fmt::format("{}, … ({} in all)", list, names.size()) : list;
}

}  // namespace harmonia
