#include "noise_classes.hpp"

#include <algorithm>

#include "asked_parts.hpp"
#include "harmonia/measure/output.hpp"

namespace harmonia {

void NoiseClasses::begin(std::span<NoiseRow* const> rows) {
  if (shared_ == nullptr) return;
  std::vector<NoiseRow*> begun;
  std::vector<const double*> x;
  for (NoiseRow* const row : rows) {
    if (!row->start.empty()) continue;
    row->start.resize(shared_->units());
    begun.push_back(row);
    x.push_back(row->x);
  }
  Matrix<double> starts(begun.size(), shared_->units());
  shared_->starts(x, asker_.pool(), starts.view());
  for (std::size_t i = 0; i < begun.size(); ++i)
    std::copy_n(starts.row(i), starts.columns(), begun[i]->start.begin());
}

std::vector<long long> NoiseClasses::ask(std::size_t count,
                                         const std::function<NoisePoint(std::size_t i)>& point) {
  const ModelInfo& info = asker_.model().info();
  const Observer observer({.kind = OutputChoice::Kind::label, .column = 0}, info);
  std::vector<long long> found(count);
  const auto ask = [&](std::size_t first, MatrixView<double> answers) {
    const auto write = [&](std::size_t i, std::span<double> out) {
      const NoisePoint at = point(first + i);
      const std::span<const double> x(at.row->x, info.inputs);
      if (at.sigma == 0) {
        std::copy(x.begin(), x.end(), out.begin());
      } else {
        noise_.put(x, at.sigma, at.sample, at.mirrored, out);
      }
    };
    const auto shared_point = [&](std::size_t i) {
      const NoisePoint at = point(first + i);
      return SharedPoint{at.row->start.data(), at.mirrored ? -at.sigma : at.sigma, at.sample};
    };
    if (shared_ != nullptr) {
      asker_.ask(*shared_, answers.rows, shared_point, write, answers);
    } else {
      asker_.ask(answers.rows, write, answers);
    }
  };
  take_in_parts(info.outputs, count, ask,
                [&](std::size_t i, std::span<const double> outputs) { found[i] = observer.label(outputs); });
  return found;
}

}  // namespace harmonia
