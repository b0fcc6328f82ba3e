#include <algorithm>
#include <cmath>

#include "dense_activation.hpp"
#include "dense_row.hpp"

namespace harmonia {
namespace {

constexpr double kCostOfChange = 4;  // of one activation, in multiplications

template <class T>
DenseChange<T> change_at(const DenseActivation& activation, double z) {
  using Kind = typename DenseChange<T>::Kind;
  const auto make = [](Kind kind, double at, double a, double b, double c, double d) {
    return DenseChange<T>{
        kind, static_cast<T>(at), static_cast<T>(a), static_cast<T>(b), static_cast<T>(c), static_cast<T>(d)};
  };
  using From = DenseActivation::Kind;
  const double here = activated(activation, z);
  switch (activation.kind) {
    case From::leaky: {
      const double slope = activation.slope;
      return z > 0 ? make(Kind::leaky, z, 1, slope - 1, 1, 0) : make(Kind::leaky, z, slope, 1 - slope, -1, 0);
    }
    case From::clip:
      return make(Kind::clip, z - here, activation.low - here, activation.high - here, 0, 0);
    case From::tanh:
    case From::sigmoid: {
      const double factor = activation.kind == From::tanh ? 1 : 0.5, t = std::tanh(factor * z);
      return make(Kind::tanh, factor * z, t, factor, factor, (1 - t) * (1 + t));
    }
    case From::elu:
      return make(Kind::elu, z, std::exp(std::min(z, 0.0)), activation.slope, here, 0);
    case From::softplus:
      return make(Kind::softplus, z, sigmoid(z), 0, here, 0);
    case From::silu: {
      const double t = std::tanh(0.5 * z);
      return make(Kind::silu, z, t, 0, here, (1 - t) * (1 + t));
    }
    case From::gelu:
      return make(Kind::gelu, z, normal_share(z), 0, here, 0);
    case From::gelu_tanh: {
      const double argument = gelu_argument(z), t = std::tanh(argument);
      return make(Kind::gelu_tanh, z, t, argument, here, (1 - t) * (1 + t));
    }
    case From::hard_swish:
      return make(Kind::hard_swish, z, hard_share(z), 0, here, 0);
    default:
      return {};
  }
}

}  // namespace

template <class T>
double DenseRankOne<T>::cost() const {
  double cost = 0;
  const auto points = static_cast<double>(row_.points.count());
  for (std::size_t l = 0; l < prepared_.network.layers.size(); ++l) {
    const DenseLayer& layer = prepared_.network.layers[l];
    const auto outputs = static_cast<double>(layer.outputs);
    cost += points * outputs * kCostOfChange;
    if (l == 0) continue;
    const auto active = static_cast<double>(std::count_if(row_.slope[l - 1].begin(), row_.slope[l - 1].end(),
                                                          [](double slope) { return slope != 0; }));
    // Of the units that do nothing at the row, some do at a point of a panel.
    cost += points * outputs * (active + 0.2 * (static_cast<double>(layer.inputs) - active));
  }
  return cost;
}

template <class T>
void DenseRankOne<T>::run(MutableRowsView differences) {
  const DensePacks<T>& packs = packs_of<T>(prepared_);
  const DensePoints& points = row_.points;
  const std::size_t width = packs.kernel().lanes * packs.kernel().most_vectors,
                    moved = prepared_.moved.size();
  changes_.resize(prepared_.hidden());
  for (std::size_t l = 0; l < prepared_.hidden(); ++l) {
    const DenseActivation& activation = prepared_.network.layers[l].activation;
    changes_[l].clear();
    for (const double z : row_.z[l]) changes_[l].push_back(change_at<T>(activation, z));
  }
  row_.sum.assign(prepared_.network.outputs(), 0.0);
  // Points of features that lie side by side, each its feature's number `slot`: all on one base.
  const std::size_t each = points.slots.size();
  const DenseLayer& first = prepared_.network.layers.front();
  std::vector<std::size_t> together;
  values_.resize(prepared_.network.layers.size());
  values_.front().resize(first.outputs * width);
  for (std::size_t slot = 0; slot < each; ++slot) {
    for (std::size_t k = 0; k < moved; k += width) {
      together.clear();
      std::vector<T> steps(width, T{0});
      for (std::size_t q = 0; q < std::min(width, moved - k); ++q) {
        together.push_back((k + q) * each + slot);
        steps[q] = static_cast<T>(points.step(k + q, slot));
      }
      const std::size_t base = points.slots[slot].base;
      for (std::size_t j = 0; j < first.outputs; ++j) {
        const T* const weights = packs.forward().front().by_input.data() + j * moved + k;
        T* const out = values_.front().data() + j * width;
        const T shift = base > 0 ? static_cast<T>(row_.shifts.front().row(base)[j]) : T{0};
        for (std::size_t q = 0; q < together.size(); ++q) out[q] = shift + steps[q] * weights[q];
        std::fill(out + together.size(), out + width, T{0});
      }
      follow(width, together, differences);
    }
  }
  for (std::size_t p = points.stepped(); p < points.count(); p += together.size()) {
    together.clear();
    std::fill(values_.front().begin(), values_.front().end(), T{0});
    for (std::size_t q = 0; q < std::min(width, points.count() - p); ++q) {
      together.push_back(p + q);
      for (std::size_t j = 0; j < first.outputs; ++j)
        values_.front()[j * width + q] =
            static_cast<T>(row_.shifts.front().row(points.bare[p + q - points.stepped()].base)[j]);
    }
    follow(width, together, differences);
  }
}

template <class T>
void DenseRankOne<T>::follow(std::size_t width, const std::vector<std::size_t>& points,
                             MutableRowsView differences) {
  const DensePacks<T>& packs = packs_of<T>(prepared_);
  const DenseKernel<T>& kernel = packs.kernel();
  std::vector<std::uint32_t> moving;
  for (std::size_t l = 0; l < prepared_.hidden(); ++l) {
    // What does not change at any of the points adds nothing further on.
    moving.clear();
    T* const values = values_[l].data();
    for (std::size_t j = 0; j < changes_[l].size(); ++j) {
      if (kernel.change(changes_[l][j], values + j * width, width, values + j * width))
        moving.push_back(static_cast<std::uint32_t>(j));
    }
    const DenseLayer& next = prepared_.network.layers[l + 1];
    values_[l + 1].resize((next.outputs + kernel.columns) * width);
    const std::vector<T>& packed = packs.forward()[l + 1].by_input;
    for (std::size_t k = 0; k < next.outputs; k += kernel.columns)
      kernel.tile(packed.data() + k * next.inputs, values, moving.data(), moving.size(), kernel.most_vectors,
                  values_[l + 1].data() + k * width);
  }
  const std::vector<T>& last = values_[prepared_.hidden()];
  for (std::size_t q = 0; q < points.size(); ++q) {
    for (std::size_t k = 0; k < row_.sum.size(); ++k) {
      const auto difference = static_cast<double>(last[k * width + q]);
      if (differences.rows > 0) {
        differences.row(points[q])[k] = difference;
      } else {
        row_.sum[k] += row_.points.weight(points[q]) * difference;
      }
    }
  }
}

template class DenseRankOne<float>;
template class DenseRankOne<double>;

}  // namespace harmonia
