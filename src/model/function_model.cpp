#include "harmonia/model/function_model.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>

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

double alternating_squares(const double* x, std::size_t n) {
  return long_sum(n, [x](std::size_t i) { return i % 2 == 0 ? x[i] * x[i] : -(x[i] * x[i]); });
}

double squares(const double* x, std::size_t n) {
  return long_sum(n, [x](std::size_t i) { return x[i] * x[i]; });
}

double sines_and_exponentials(const double* x, std::size_t n) {
  double product = 1;
  for (std::size_t i = 0; i < n; ++i) product *= i % 2 == 0 ? std::sin(x[i]) : std::exp(x[i]);
  return product;
}

double exponential(const double* x, std::size_t n) {
  return std::exp(long_sum(n, [x](std::size_t i) { return x[i]; }));
}

using Function = double (*)(const double*, std::size_t);

class FunctionModel final : public Model {
 public:
  FunctionModel(const std::string& name, std::size_t n, Function f) : f_(f) {
    info_.name = fmt::format("fn:{}?n={}", name, n);
    info_.kind = "function";
    info_.inputs = n;
    info_.outputs = 1;
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const auto rows = x.as<double>();
    for (std::size_t i = 0; i < rows.rows; ++i) *y.row(i) = f_(rows.row(i), rows.columns);
  }

 private:
  ModelInfo info_;
  Function f_;
};

}  // namespace

std::unique_ptr<Model> make_function_model(const std::string& name, std::size_t n) {
  static constexpr std::array<std::pair<const char*, Function>, 4> functions{
      {{"f1", alternating_squares}, {"f2", squares}, {"f3", sines_and_exponentials}, {"f4", exponential}}};
  for (const auto& [known, f] : functions) {
    if (name == known) return std::make_unique<FunctionModel>(name, n, f);
  }
  throw Error(ErrorCode::usage, fmt::format("no function '{}'; known are f1, f2, f3, f4", name));
}

}  // namespace harmonia
