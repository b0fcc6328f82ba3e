#include "tree_link.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace harmonia {
namespace {

using Kind = TreeLink::Kind;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

double probit(double p) {
  const double z = 2 * p - 1;
  return std::abs(z) < 1 ? std::sqrt(2.0) * boost::math::erf_inv(z) : std::copysign(HUGE_VAL, z);
}

double of_one(const TreeLink& link, double m) {
  switch (link.kind) {
    case Kind::logistic:
      return logistic(link.parameter * m);
    case Kind::exponential:
      return std::exp(m);
    case Kind::softplus:
      return m > 0 ? m + std::log1p(std::exp(-m)) : std::log1p(std::exp(m));
    case Kind::signed_square:
      return std::copysign(m * m, m);
    case Kind::probit:
      return probit(m);
    case Kind::positive:
      return m > 0 ? 1 : 0;
    case Kind::identity:
    case Kind::softmax:
    case Kind::softmax_zero:
    case Kind::largest:
      return m;
  }
  return m;
}

void softmax(std::span<const double> margins, std::span<double> out, bool keep_zeros) {
  const double top = *std::max_element(margins.begin(), margins.end());
  double sum = 0;
  for (std::size_t k = 0; k < margins.size(); ++k) {
    out[k] = keep_zeros && margins[k] == 0 ? 0 : std::exp(margins[k] - top);
    sum += out[k];
  }
  if (sum == 0) return;  // nothing but zeros, which stay
  for (double& p : out) p /= sum;
}

}  // namespace

std::size_t link_outputs(const TreeLink& link, std::size_t margins) {
  if (link.kind == Kind::largest) return 1;
  return link.complement ? 2 : margins;
}

void apply_link(const TreeLink& link, std::span<const double> margins, std::span<double> out) {
  if (link.kind == Kind::softmax || link.kind == Kind::softmax_zero) {
    softmax(margins, out, link.kind == Kind::softmax_zero);
  } else if (link.kind == Kind::largest) {
    out[0] = static_cast<double>(std::max_element(margins.begin(), margins.end()) - margins.begin());
  } else if (link.complement && link.kind == Kind::logistic) {
    const double m = link.parameter * margins[0];
    out[0] = logistic(-m);  // 1 − p would lose the digits of a small one
    out[1] = logistic(m);
  } else if (link.complement) {
    const double p = of_one(link, margins[0]);
    out[0] = 1 - p;
    out[1] = p;
  } else {
    for (std::size_t k = 0; k < margins.size(); ++k) out[k] = of_one(link, margins[k]);
  }
}

void TreeAnswers::answer(const std::int64_t* sums, std::size_t stride, std::size_t next, std::size_t rows,
                         std::vector<double>& room, std::span<double> out) const {
  const bool plain = link.kind == Kind::identity && !link.complement;
  const bool probability = link.kind == Kind::logistic && !link.complement;
  if (margins() == 1 && (plain || probability)) {  // as most boosters
    const double first = base[0], one = unit[0];
    for (std::size_t i = 0; i < rows; ++i) {
      const double margin = first + factor * (static_cast<double>(sums[i * next]) * one);
      out[i] = plain ? margin : logistic(link.parameter * margin);
    }
    return;
  }
  room.resize(margins());
  const std::size_t width = link_outputs(link, margins());
  for (std::size_t i = 0; i < rows; ++i, sums += next) {
    const std::span<double> answer = out.subspan(i * width, width), to = plain ? answer : std::span(room);
    for (std::size_t k = 0; k < margins(); ++k)
      to[k] = base[k] + factor * (static_cast<double>(sums[k * stride]) * unit[k]);
    if (!plain) apply_link(link, room, answer);
  }
}

}  // namespace harmonia
