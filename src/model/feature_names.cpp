#include "harmonia/model/feature_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/suggestion.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kNamed = 8;  // at most, in a message

// Numbered from 0 on.
bool made_up(const std::vector<std::string>& names) {
  constexpr std::array<std::string_view, 4> kPrefixes{"", "x", "f", "Column_"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] != fmt::format("{}{}", prefix, i)) return false;
    }
    return true;
  });
}

// What is left of numbered columns when some are dropped.
bool numbered(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    return name.size() > 1 && name[0] == 'x' && name.find_first_not_of("0123456789", 1) == std::string::npos;
  });
}

std::vector<std::string> comparable(std::vector<std::string> names) {
  for (std::string& name : names) std::ranges::replace(name, ' ', '_');
  return names;
}

// The first few of them.
std::string listed(const std::vector<std::string>& names, const char* separator) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) shown.push_back(printable(names[i]));
  if (names.size() > kNamed) shown.emplace_back("…");
  return fmt::format("{}", fmt::join(shown, separator));
}

}  // namespace

void check_features(const ModelInfo& model, const DataInfo& data) {
  if (model.features.empty() || data.features.empty() || made_up(model.features) || made_up(data.features))
    return;
  const std::vector<std::string> wanted = comparable(model.features), given = comparable(data.features);
  if (wanted == given) return;
  std::vector<std::string> sorted = given, absent;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!std::ranges::binary_search(sorted, wanted[i])) absent.push_back(model.features[i]);
  }
  if (absent.size() == wanted.size() && numbered(data.features)) return;
  if (!absent.empty()) {
    throw Error(
        ErrorCode::input,
        fmt::format("data {} has no {} {}; model {} expects {}: name the data's columns in this order with "
                    "--columns",
                    data.source, absent.size() == 1 ? "column" : "columns", listed(absent, ", "), model.name,
                    listed(model.features, ", ")));
  }
  std::vector<std::string> columns;  // as the data names them
  columns.reserve(wanted.size());
  for (const std::string& name : wanted)
    columns.push_back(
        data.features[static_cast<std::size_t>(std::ranges::find(given, name) - given.begin())]);
  throw Error(ErrorCode::input,
              fmt::format("data {} has the columns {}; model {} expects {}: --columns {}", data.source,
                          listed(data.features, ", "), model.name,
                          given.size() > wanted.size() ? "some of them" : "them in another order",
                          shell_list(columns)));
}

}  // namespace harmonia
