#include "number_text.hpp"

#include <cmath>
#include <limits>

#include "harmonia/core/text.hpp"

namespace harmonia {

ParsedNumber parse_number(std::string_view text) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  const auto number = read_number(text);
  if (number && std::isfinite(*number)) return {NumberKind::number, *number};
  if (number) return {std::isnan(*number) ? NumberKind::missing : NumberKind::infinite, kMissing};
  text = trim(text);
  return {text.empty() || text == "NA" ? NumberKind::missing : NumberKind::not_a_number, kMissing};
}

}  // namespace harmonia
