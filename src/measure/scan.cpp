#include "harmonia/measure/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostValues = 10000;

// What the numbers are called in messages.
struct Name {
  const char* one;
  const char* many;
};

[[noreturn]] void fail(const Name& name, std::string_view part, const std::string& what) {
  throw Error(ErrorCode::usage,
              fmt::format("{} {}: {}; expected LOW..HIGHxCOUNT, log:LOW..HIGHxCOUNT or numbers above 0",
                          name.many, in_quotes(part), what));
}

double value_of(const Name& name, std::string_view part, std::string_view text) {
  const auto value = read_number(text);
  if (!value) fail(name, part, fmt::format("{} is not a number", in_quotes(text)));
  if (!(*value > 0) || !std::isfinite(*value)) fail(name, part, fmt::format("{} is no {}", *value, name.one));
  return *value;
}

void add_part(const Name& name, std::string_view part, std::vector<double>& values) {
  std::string_view rest = trim(part);
  const bool logarithmic = rest.starts_with("log:");
  if (logarithmic) rest.remove_prefix(4);
  const std::size_t dots = rest.find(".."), times = rest.rfind('x');
  if (dots == std::string_view::npos) {
    if (logarithmic) fail(name, part, "log: needs a range");
    values.push_back(value_of(name, part, rest));
    return;
  }
  if (times == std::string_view::npos || times < dots) fail(name, part, "the range has no count");
  const double low = value_of(name, part, rest.substr(0, dots)),
               high = value_of(name, part, rest.substr(dots + 2, times - dots - 2));
  std::size_t count = 0;
  const char* end = rest.data() + rest.size();
  if (std::from_chars(rest.data() + times + 1, end, count) != std::from_chars_result{end, std::errc{}} ||
      count < 2 || count > kMostValues) {
    fail(name, part,
         fmt::format("{} is no count from 2 to {}", in_quotes(rest.substr(times + 1)), kMostValues));
  }
  if (!(low < high)) fail(name, part, fmt::format("{} is not below {}", low, high));
  for (std::size_t i = 0; i < count; ++i) {
    const auto above = static_cast<double>(i), below = static_cast<double>(count - 1 - i);
    // Divided last: 0.1..0.5x3 then has the double nearest to 0.3.
    const double inner = logarithmic ? low * std::pow(high / low, above / (above + below))
                                     : (low * below + high * above) / (above + below);
    values.push_back(i == 0 ? low : (i + 1 == count ? high : inner));
  }
}

std::vector<double> parse(const Name& name, const std::string& text) {
  std::vector<double> values;
  std::string_view rest = text;
  for (bool last = false; !last;) {
    const std::size_t comma = rest.find(',');
    add_part(name, rest.substr(0, comma), values);
    last = comma == std::string_view::npos;
    if (!last) rest.remove_prefix(comma + 1);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::vector<double> parse_radii(const std::string& text) { return parse({"radius", "radii"}, text); }

std::vector<double> parse_sigmas(const std::string& text) { return parse({"sigma", "sigmas"}, text); }

}  // namespace harmonia
