#pragma once

// What activations make of differences, for the sources that dense_kernels_simd.hpp is for: plain loops over
// functions without branches, which become vectors. Nothing alike is subtracted while differences are small.
// Everything is in the including source's unnamed namespace.

#include "dense_kernels.hpp"

namespace harmonia {
namespace {

// Differences that are small to all formulas.
template <class T>
constexpr T kNear = sizeof(T) == sizeof(float) ? T{1} : T{0.25};

template <class T>
inline T at_most(T x, T end) {
  return x > end ? end : x;
}

template <class T>
inline T within(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

// e^x as a power of two and e^f − 1, with |f| <= ln 2 / 2; for |x| <= 44. Adding 1.5 · 2^23 or 2^52 rounds.
template <class T>
struct Exponential {
  T two, rest;
};

inline Exponential<float> exponential(float x) {
  constexpr float kMagic = 12582912.0F;
  const float power = (x * 1.44269504F + kMagic) - kMagic;
  const float f = (x - power * 0.693359375F) - power * -2.12194440e-4F;
  constexpr float kTerms[] = {1.0F / 5040, 1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F};
  float series = 0;
  for (const float term : kTerms) series = series * f + term;
  return {__builtin_bit_cast(float, (static_cast<std::int32_t>(power) + 127) << 23), series * f};
}

inline Exponential<double> exponential(double x) {
  constexpr double kMagic = 6755399441055744.0;
  const double magic = x * 1.4426950408889634 + kMagic, power = magic - kMagic;
  const double f = (x - power * 0.693147180369123816490) - power * 1.90821492927058770002e-10;
  constexpr double kTerms[] = {1.0 / 87178291200.0,
                               1.0 / 6227020800.0,
                               1.0 / 479001600.0,
                               1.0 / 39916800.0,
                               1.0 / 3628800.0,
                               1.0 / 362880.0,
                               1.0 / 40320.0,
                               1.0 / 5040.0,
                               1.0 / 720.0,
                               1.0 / 120.0,
                               1.0 / 24.0,
                               1.0 / 6.0,
                               0.5,
                               1.0};
  double series = 0;
  for (const double term : kTerms) series = series * f + term;
  // The power stands in the last bits of the magic number.
  const auto bits = __builtin_bit_cast(std::uint64_t, magic);
  return {__builtin_bit_cast(double, (bits + 1023) << 52), series * f};
}

// e^x − 1 and e^x.
template <class T>
inline T less_one(T x) {
  const Exponential<T> e = exponential(x);
  return e.two * e.rest + (e.two - 1);
}

template <class T>
inline T exp_of(T x) {
  const Exponential<T> e = exponential(x);
  return e.two * e.rest + e.two;
}

// 1/1, 1/3, 1/5, …, from the last.
template <class T, int Count>
struct OddReciprocals {
  T values[Count] = {};
  constexpr OddReciprocals() {
    for (int k = 0; k < Count; ++k) values[Count - 1 - k] = T{1} / static_cast<T>(2 * k + 1);
  }
};

// log(1 + x) of x from −0.64 to 1.72: 2·atanh(x / (2 + x)) by its series.
template <class T>
inline T log_one_more(T x) {
  constexpr OddReciprocals<T, sizeof(T) == sizeof(float) ? 12 : 25> kTerms;
  const T u = x / (2 + x), square = u * u;
  T series = 0;
#pragma GCC unroll 25
  for (const T term : kTerms.values) series = series * square + term;
  return 2 * u * series;
}

// tanh x.
template <class T>
inline T tanh_of(T x) {
  constexpr T kEnd = 20;
  const T e = less_one(2 * within(x, -kEnd, kEnd));
  return e / (e + 2);
}

// tanh(z + d) − tanh(z) is tanh(d)·(1 − t²) / (1 + t·tanh(d)), which subtracts nothing alike while d is
// small.
template <bool Near, class T>
inline T tanh_change(T z, T t, T slope, T d) {
  const T small = tanh_of(d);
  const T formula = small * slope / (1 + t * small);
  if constexpr (Near) return formula;
  const T plain = tanh_of(z + d) - t;
  return d < 1 && d > -1 ? formula : plain;
}

template <bool Near, class T>
inline T elu_change(const DenseChange<T>& unit, T d) {
  constexpr T kEnd = 40;
  const T z = unit.z, there = z + d, slope = unit.b;
  const T below = slope * less_one(within(there, -kEnd, T{0}));
  const T near = slope * unit.a * less_one(within(d, T{-1}, T{1}));
  const T far = Near ? T{0} : slope * (exp_of(within(there, -kEnd, T{0})) - unit.a);
  const T both_below = Near || (d < 1 && d > -1) ? near : far;
  return there > 0 ? (z > 0 ? d : there - unit.c) : (z > 0 ? below - z : both_below);
}

template <bool Near, class T>
inline T softplus_change(const DenseChange<T>& unit, T d) {
  constexpr T kEnd = 40;
  const T there = unit.z + d, size = there < 0 ? -there : there;
  const T near = log_one_more(unit.a * less_one(within(d, T{-1}, T{1})));
  if constexpr (Near) return near;
  const T far = (there > 0 ? there : 0) + log_one_more(exp_of(-at_most(size, kEnd))) - unit.c;
  return d < 1 && d > -1 ? near : far;
}

// Of z · share(z), whose value at z is c, with the share at z + d and its change.
template <bool Near, class T>
inline T product_change(const DenseChange<T>& unit, T d, T share, T change) {
  const T small = d * share + unit.z * change, large = (unit.z + d) * share - unit.c;
  return Near || (d < 1 && d > -1) ? small : large;
}

template <bool Near, class T>
inline T silu_change(const DenseChange<T>& unit, T d) {
  const T half = T{0.5};
  const T change = half * tanh_change<Near>(half * unit.z, unit.a, unit.d, half * d);
  return product_change<Near>(unit, d, half + half * unit.a + change, change);
}

template <class T>
inline T gelu_tanh_change(const DenseChange<T>& unit, T d) {
  constexpr T kRoot = static_cast<T>(0.79788456080286535588), kCube = static_cast<T>(0.044715);  // √(2/π)
  const T half = T{0.5}, z = unit.z;
  const T argument = kRoot * d * (1 + kCube * (3 * z * z + (3 * z + d) * d));
  const T change = half * tanh_change<false>(unit.b, unit.a, unit.d, argument);
  return product_change<false>(unit, d, half + half * unit.a + change, change);
}

// erfc(x)·e^(x²) for 0 <= x <= 6.5, in powers of t = 1 / (1 + x/2): a fit whose relative error is 2e-8.
inline float scaled_erfc(float t) {
  constexpr float kTerms[] = {-0.043942205F, 0.204109642F, -0.30218382F, 0.0372068971F, 0.16863186F,
                              0.10065594F,   0.277417614F, 0.275220986F, 0.282925222F,  -4.21516943e-05F};
  float series = 0;
  for (const float term : kTerms) series = series * t + term;
  return series;
}

// The same in double, in powers of where t is between 4/17 and 1: a fit whose relative error is 5e-17.
inline double scaled_erfc(double t) {
  constexpr double kTerms[] = {
      -2.1774756912631151099e-11, 1.061500688654757473e-11,    2.4314504596523486292e-10,
      -5.2534633774976178253e-10, -4.5638022364501463648e-10,  4.7974920281089814627e-9,
      -1.1003282626278801439e-8,  -5.6158230035855436035e-9,   1.1300870744550016766e-7,
      -2.7845016743894909234e-7,  -2.8845872663651316502e-7,   3.513980806787109991e-6,
      -5.7562479870273444594e-6,  -0.000025577007016217279225, 0.00011918915870962868006,
      0.00013431438149158995914,  -0.0018515781343124564642,   -0.00162788565586275596,
      0.035104572730288963771,    0.174094637371532279,        0.42373092412916534242,
      0.37032411176472535971};
  constexpr double kLeast = 4.0 / 17, kMiddle = (1 + kLeast) / 2, kHalf = (1 - kLeast) / 2;
  const double s = (t - kMiddle) / kHalf;
  double series = 0;
#pragma GCC unroll 22
  for (const double term : kTerms) series = series * s + term;
  return series;
}

// Φ(x).
template <class T>
inline T normal_share(T x) {
  constexpr T kRoot = static_cast<T>(0.70710678118654752440);
  const T size = at_most(x < 0 ? -x : x, T{9}) * kRoot, t = 1 / (1 + T{0.5} * size);
  const T tail = T{0.5} * exp_of(-size * size) * scaled_erfc(t), rest = 1 - tail;
  return x < 0 ? tail : rest;
}

// Φ(z + d) − Φ(z): while d is small, the density's integral by Gauss's rule of five points.
template <bool Near, class T>
inline T normal_change(T z, T share, T d) {
  constexpr T kNodes[] = {static_cast<T>(0.53846931010568309104), static_cast<T>(0.90617984593866399280)};
  constexpr T kWeights[] = {static_cast<T>(0.47862867049936646804), static_cast<T>(0.23692688505618908751)};
  constexpr T kMiddle = static_cast<T>(0.56888888888888888889),
              kDensity = static_cast<T>(0.39894228040143267794);
  const T half = T{0.5} * within(d, -kNear<T>, kNear<T>), middle = z + half;
  const auto bell = [](T x) { return exp_of(-at_most(T{0.5} * x * x, T{43})); };
  T sum = kMiddle * bell(middle);
  for (int i = 0; i < 2; ++i)
    sum += kWeights[i] * (bell(middle - half * kNodes[i]) + bell(middle + half * kNodes[i]));
  const T near = kDensity * half * sum;
  if constexpr (Near) return near;
  const T far = normal_share(z + d) - share;
  // A sum, because a choice would become a branch.
  const T nearly = d > -kNear<T> ? T{1} : T{0}, small = d < kNear<T> ? nearly : T{0};
  return small * near + (1 - small) * far;
}

template <bool Near, class T>
inline T gelu_change(const DenseChange<T>& unit, T d) {
  const T change = normal_change<Near>(unit.z, unit.a, d);
  return product_change<Near>(unit, d, unit.a + change, change);
}

template <class T>
inline T hard_swish_change(const DenseChange<T>& unit, T d) {
  const T z = unit.z, there = z + d, sixth = T{1} / 6;
  const T share = within(there * sixth + T{0.5}, T{0}, T{1});
  // Between the two kinks the shares differ by d/6.
  const bool both = z > -3 && z < 3 && there > -3 && there < 3;
  return product_change<false>(unit, d, share, both ? d * sixth : share - unit.a);
}

// Of activations that have a formula for small differences; Near: all of them are.
template <bool Near, class T>
void smooth_changes(const DenseChange<T>& unit, const T* delta, std::size_t width, T* out) {
  using Unit = DenseChange<T>;
  const auto all = [&](const auto& change) {
    for (std::size_t q = 0; q < width; ++q) out[q] = change(unit, delta[q]);
  };
  switch (unit.kind) {
    case Unit::Kind::tanh:
      return all([](const Unit& u, T d) { return u.c * tanh_change<Near>(u.z, u.a, u.d, u.b * d); });
    case Unit::Kind::elu:
      return all([](const Unit& u, T d) { return elu_change<Near>(u, d); });
    case Unit::Kind::softplus:
      return all([](const Unit& u, T d) { return softplus_change<Near>(u, d); });
    case Unit::Kind::silu:
      return all([](const Unit& u, T d) { return silu_change<Near>(u, d); });
    case Unit::Kind::gelu:
      return all([](const Unit& u, T d) { return gelu_change<Near>(u, d); });
    case Unit::Kind::gelu_tanh:
      return all([](const Unit& u, T d) { return gelu_tanh_change(u, d); });
    case Unit::Kind::hard_swish:
      return all([](const Unit& u, T d) { return hard_swish_change(u, d); });
    default:
      return all([](const Unit&, T d) { return d; });
  }
}

template <class T>
bool change_of(const DenseChange<T>& unit, const T* delta, std::size_t width, T* out) {
  using Unit = DenseChange<T>;
  if (unit.kind == Unit::Kind::leaky) {
    const T z = unit.z, a = unit.a, b = unit.b, c = unit.c;
    for (std::size_t q = 0; q < width; ++q) {
      const T there = z + delta[q];
      out[q] = a * delta[q] + (c * there < 0 ? b * there : 0);
    }
  } else if (unit.kind == Unit::Kind::clip) {
    for (std::size_t q = 0; q < width; ++q) out[q] = within(unit.z + delta[q], unit.a, unit.b);
  } else {
    int far = 0;
    for (std::size_t q = 0; q < width; ++q) far |= !(delta[q] > -kNear<T> && delta[q] < kNear<T>) ? 1 : 0;
    far != 0 ? smooth_changes<false>(unit, delta, width, out) : smooth_changes<true>(unit, delta, width, out);
  }
  T sizes = 0;
  for (std::size_t q = 0; q < width; ++q) sizes = out[q] != 0 ? T{1} : sizes;
  return sizes != 0;
}

}  // namespace
}  // namespace harmonia
