#include "harmonia/model/function_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

// Sums in eight compensated lanes (two-sum), added up in a fixed order: the error does not grow with n.
template <class Term>
double long_sum(std::size_t n, Term term) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sum{}, lost{};
  const auto add = [&](std::size_t lane, double value) {
    const double total = sum[lane] + value;
    const double back = total - sum[lane];
    lost[lane] += (sum[lane] - (total - back)) + (value - back);
    sum[lane] = total;
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, term(i + lane));
  }
  for (; i < n; ++i) add(i % kLanes, term(i));
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    add(0, sum[lane]);
    lost[0] += lost[lane];
  }
  return sum[0] + lost[0];
}

double sum_of_squares(const double* x, std::size_t n) {
  return long_sum(n, [x](std::size_t i) { return x[i] * x[i]; });
}

double alternating_squares(const double* x, std::size_t n, double) {
  return long_sum(n, [x](std::size_t i) { return i % 2 == 0 ? x[i] * x[i] : -(x[i] * x[i]); });
}

double squares(const double* x, std::size_t n, double) { return sum_of_squares(x, n); }

double sines_and_exponentials(const double* x, std::size_t n, double) {
  double product = 1;
  for (std::size_t i = 0; i < n; ++i) product *= i % 2 == 0 ? std::sin(x[i]) : std::exp(x[i]);
  return product;
}

double exponential(const double* x, std::size_t n, double) {
  return std::exp(long_sum(n, [x](std::size_t i) { return x[i]; }));
}

double half_space(const double* x, std::size_t, double distance) { return x[0] < distance ? 1 : 0; }

double ball_class(const double* x, std::size_t n, double radius) {
  return sum_of_squares(x, n) < radius * radius ? 1 : 0;
}

double cone(const double* x, std::size_t n, double degrees) {
  const double along = x[0] + 1, length = std::sqrt(along * along + sum_of_squares(x + 1, n - 1));
  return along > length * std::cos(degrees * std::numbers::pi / 180) ? 1 : 0;
}

double shells(const double* x, std::size_t, double) {
  const double distance = std::abs(x[0]);
  return distance < 0.2 || (distance > 0.4 && distance < 4) ? 1 : 0;
}

double logistic(double m) { return 1 / (1 + std::exp(m)); }

double soft_plane(const double* x, std::size_t n, double distance) {
  return logistic(long_sum(n, [x](std::size_t i) { return x[i]; }) / std::sqrt(static_cast<double>(n)) -
                  distance);
}

void soft_plane_gradient(const double*, std::size_t n, double y, double* out) {
  std::fill(out, out + n, -y * (1 - y) / std::sqrt(static_cast<double>(n)));
}

double soft_ball(const double* x, std::size_t n, double radius) {
  return logistic(sum_of_squares(x, n) - radius * radius);
}

void soft_ball_gradient(const double* x, std::size_t n, double y, double* out) {
  std::transform(x, x + n, out, [y](double value) { return -y * (1 - y) * 2 * value; });
}

struct Function {
  const char* name;
  double (*value)(const double* x, std::size_t n, double parameter);
  bool classifier = false;
  const char* parameter = "";  // empty: it has none
  double standard = 0;         // value of the parameter, unless it is given
  double low = 0, high = 0;    // the parameter lies between
  /// By x, where the value is y; null: it has none.
  void (*gradient)(const double* x, std::size_t n, double y, double* out) = nullptr;
};

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr std::array kFunctions{
    Function{"f1", alternating_squares},
    Function{"f2", squares},
    Function{"f3", sines_and_exponentials},
    Function{"f4", exponential},
    Function{"half-space", half_space, true, "d", 1, -kAny, kAny},
    Function{"ball-class", ball_class, true, "r", 1, 0, kAny},
    Function{"cone", cone, true, "angle", 60, 0, 180},
    Function{"shells", shells, true},
    Function{"soft-plane", soft_plane, true, "d", 1, -kAny, kAny, soft_plane_gradient},
    Function{"soft-ball", soft_ball, true, "r", 1, 0, kAny, soft_ball_gradient}};

class FunctionModel final : public Model, private Differentiable {
 public:
  FunctionModel(const Function& function, std::size_t n, double parameter)
      : value_(function.value), gradient_(function.gradient), parameter_(parameter) {
    info_.name = fmt::format("fn:{}?n={}", function.name, n);
    if (*function.parameter) info_.name += fmt::format("&{}={}", function.parameter, parameter);
    info_.kind = "function";
    info_.inputs = n;
    info_.outputs = 1;
    info_.binary = function.classifier;
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) *y.row(i) = value_(rows.row(i), rows.columns, parameter_);
  }

  const Differentiable* differentiable() const override { return gradient_ ? this : nullptr; }

 private:
  void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                MutableRowsView gradients) const override {
    evaluate(x, y);
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) {
      double by = 0;
      by_outputs(i, {y.row(i), 1}, {&by, 1});
      gradient_(rows.row(i), rows.columns, *y.row(i), gradients.row(i));
      for (std::size_t j = 0; j < rows.columns; ++j) gradients.row(i)[j] *= by;
    }
  }

  ModelInfo info_;
  double (*value_)(const double*, std::size_t, double);
  void (*gradient_)(const double*, std::size_t, double, double*);
  double parameter_;
};

double parameter_of(const Function& function, const std::map<std::string, double>& given) {
  double parameter = function.standard;
  for (const auto& [name, value] : given) {
    if (name != function.parameter) {
      throw Error(ErrorCode::usage,
                  fmt::format("function {} has no '{}'; expected n{}", function.name, name,
                              *function.parameter ? fmt::format(" and {}", function.parameter) : ""));
    }
    if (!(value > function.low && value < function.high)) {
      throw Error(ErrorCode::usage, fmt::format("function {}: {} is {}; expected between {} and {}",
                                                function.name, name, value, function.low, function.high));
    }
    parameter = value;
  }
  return parameter;
}

}  // namespace

std::unique_ptr<Model> make_function_model(const std::string& name, std::size_t n,
                                           const std::map<std::string, double>& parameters) {
  std::string known;
  for (const Function& function : kFunctions) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", function.name);
    if (name != function.name) continue;
    if (function.value == shells && n != 1) {
      throw Error(ErrorCode::usage, fmt::format("function shells is of one variable; asked for {}", n));
    }
    return std::make_unique<FunctionModel>(function, n, parameter_of(function, parameters));
  }
  throw Error(ErrorCode::usage, fmt::format("no function '{}'; known are {}", name, known));
}

}  // namespace harmonia
