#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/search/attack.hpp"

namespace harmonia {
namespace {

constexpr std::array<std::string_view, 13> kMethods{"gamma",       "random", "nes",  "boundary", "greedy",
                                                    "fgsm",        "rfgsm",  "bim",  "mifgsm",   "pgd",
                                                    "pgd-penalty", "cw",     "lbfgs"};
constexpr std::array<std::string_view, 5> kTargets{"", "", "next", "random", "least"};

}  // namespace

AttackMethod parse_attack_method(const std::string& text) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), text);
  if (found != kMethods.end()) return static_cast<AttackMethod>(found - kMethods.begin());
  throw Error(ErrorCode::usage,
              fmt::format("method {} is not known; expected gamma, random, nes, boundary or greedy or, by "
                          "gradients, fgsm, rfgsm, bim, mifgsm, pgd, pgd-penalty, cw or lbfgs",
                          in_quotes(text)));
}

std::string attack_method_name(AttackMethod method) {
  return std::string(kMethods[static_cast<std::size_t>(method)]);
}

bool uses_gradients(AttackMethod method) { return method >= AttackMethod::fgsm; }

AttackNorm standard_norm(AttackMethod method) {
  return method >= AttackMethod::pgd_penalty ? AttackNorm::l2 : AttackNorm::linf;
}

bool needs_epsilon(AttackMethod method) {
  return method >= AttackMethod::fgsm && method <= AttackMethod::pgd;
}

std::size_t standard_steps(AttackMethod method) {
  if (method == AttackMethod::fgsm) return 1;
  if (method == AttackMethod::cw || method == AttackMethod::pgd_penalty) return 100;
  return uses_gradients(method) && method != AttackMethod::lbfgs ? 10 : 25;
}

AttackTarget parse_attack_target(const std::string& text) {
  using Kind = AttackTarget::Kind;
  for (const Kind kind : {Kind::next, Kind::random, Kind::least}) {
    if (text == kTargets[static_cast<std::size_t>(kind)]) return {.kind = kind, .label = 0};
  }
  AttackTarget target{.kind = Kind::given, .label = 0};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, target.label);
  if (read.ec == std::errc{} && read.ptr == end) return target;
  throw Error(
      ErrorCode::usage,
      fmt::format("target {}; expected the number of a class, next, random or least", in_quotes(text)));
}

std::string attack_target_name(const AttackTarget& target) {
  if (target.kind == AttackTarget::Kind::given) return std::to_string(target.label);
  return std::string(kTargets[static_cast<std::size_t>(target.kind)]);
}

AttackNorm parse_attack_norm(const std::string& text) {
  if (text == "linf") return AttackNorm::linf;
  if (text == "l2") return AttackNorm::l2;
  throw Error(ErrorCode::usage, fmt::format("norm {}; expected linf or l2", in_quotes(text)));
}

std::string attack_norm_name(AttackNorm norm) { return norm == AttackNorm::l2 ? "l2" : "linf"; }

}  // namespace harmonia
