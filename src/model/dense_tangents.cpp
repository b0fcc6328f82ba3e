#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "dense_activation.hpp"
#include "dense_row.hpp"

namespace harmonia {
namespace {

constexpr double kSlack = 1.0001;        // of bounds that are computed in floats
constexpr std::size_t kFewColumns = 64;  // so many candidates are counted one by one, with exact steps
constexpr double kCostOfBend = 4;        // a multiplication by a bend, in those of a tile
constexpr double kCostOfCandidate = 24;

}  // namespace

template <class T>
DenseTangents<T>::DenseTangents(const DensePrepared& prepared, DenseRow& row)
    : prepared_(prepared), packs_(packs_of<T>(prepared)), row_(row) {
  const std::size_t hidden = prepared.hidden();
  active_.resize(hidden);
  at_risk_.resize(hidden);
  found_.resize(hidden);
  rows_.resize(hidden);
  lists_.resize(hidden);
  for (std::size_t l = 0; l < hidden; ++l) {
    for (std::size_t k = 0; k < row.slope[l].size(); ++k) {
      if (row.slope[l][k] != 0) active_[l].push_back(static_cast<std::uint32_t>(k));
    }
  }
  if (hidden == 0) return;
  plan_first();
  for (std::size_t l = 1; l < hidden; ++l) plan_layer(l);
}

template <class T>
void DenseTangents<T>::plan_first() {
  const SortedWeights& sorted = prepared_.sorted;
  const DenseActivation& activation = prepared_.network.layers.front().activation;
  const std::size_t units = row_.z.front().size(), m = sorted.moved;
  const double stride = row_.points.longest * kSlack;
  candidates_.assign(units, 0);
  away_.assign(units, 0.0);
  bare_away_.assign(units, 0.0);
  active_mask_.assign(units, 0.0F);
  idle_mask_.assign(units, 0.0F);
  for (std::size_t j = 0; j < units; ++j) {
    const double distance = kink_distance(activation, row_.z.front()[j]);
    away_[j] = distance - shift_of(j, row_.points.slots) * kSlack;
    bare_away_[j] = distance - shift_of(j, row_.points.bare) * kSlack;
    const double away = away_[j];
    const float* const sizes = sorted.size.data() + j * m;
    const auto may = [&](float size) { return static_cast<double>(size) * stride >= away; };
    std::size_t count = 0;
    while (count < std::min(m, kFewColumns) && may(sizes[count])) ++count;
    if (count == kFewColumns)
      count = static_cast<std::size_t>(std::partition_point(sizes + count, sizes + m, may) - sizes);
    candidates_[j] = static_cast<std::uint32_t>(count);
    candidate_count_ += count;
    active_mask_[j] = row_.slope.front()[j] != 0 ? 1.0F : 0.0F;
    const bool bends = count > 0 || bare_away_[j] <= 0;
    idle_mask_[j] = bends && row_.slope.front()[j] == 0 ? 1.0F : 0.0F;
  }
  shift_ = longest_shift(row_.points.slots);
  bare_shift_ = longest_shift(row_.points.bare);
  reach_ = stretch_of(activation) *
           std::max(shift_ + row_.points.longest * sorted.longest_column, bare_shift_) * kSlack;
}

// The most that bases of these slots shift a unit of the first layer.
template <class T>
double DenseTangents<T>::shift_of(std::size_t unit, const std::vector<DensePoints::Slot>& slots) const {
  double most = 0;
  for (const DensePoints::Slot& slot : slots) {
    if (slot.base > 0) most = std::max(most, std::abs(row_.shifts.front().row(slot.base)[unit]));
  }
  return most;
}

// And all of its units together.
template <class T>
double DenseTangents<T>::longest_shift(const std::vector<DensePoints::Slot>& slots) const {
  double most = 0;
  for (const DensePoints::Slot& slot : slots) {
    double square = 0;
    for (std::size_t j = 0; slot.base > 0 && j < away_.size(); ++j) {
      const double part = row_.shifts.front().row(slot.base)[j];
      square += part * part;
    }
    most = std::max(most, std::sqrt(square));
  }
  return most;
}

// How long what comes out of the first layer can be: of units that have a slope, and of those that do nothing
// until a step goes beyond their kink.
template <class T>
typename DenseTangents<T>::FirstReach DenseTangents<T>::reach_of_first() const {
  const SortedWeights& sorted = prepared_.sorted;
  const double stride = row_.points.longest * kSlack;
  std::vector<float> active(sorted.moved, 0.0F);
  std::vector<double> idle(sorted.moved, 0.0);
  double bare = 0;
  for (std::size_t j = 0; j < away_.size(); ++j) {
    const std::size_t first = j * sorted.moved;
    if (active_mask_[j] != 0) {
      prepared_.squares->add(sorted.scaled.data() + first, sorted.moved, active.data());
      continue;
    }
    for (std::size_t i = first; i < first + candidates_[j]; ++i) {
      const double beyond = static_cast<double>(sorted.size[i]) * stride - away_[j];
      idle[sorted.order[i]] += beyond * beyond;
    }
    if (bare_away_[j] < 0) bare += bare_away_[j] * bare_away_[j];
  }
  const auto column = static_cast<double>(*std::max_element(active.begin(), active.end()));
  const double stretch = stretch_of(prepared_.network.layers.front().activation);
  return {stretch * std::max(shift_ + stride * std::sqrt(column), bare_shift_) * kSlack,
          std::sqrt(std::max(bare, *std::max_element(idle.begin(), idle.end()))) * kSlack};
}

template <class T>
void DenseTangents<T>::plan_layer(std::size_t l) {
  const DenseLayer& layer = prepared_.network.layers[l];
  std::vector<std::uint32_t>& risk = at_risk_[l];
  const std::vector<double>& squares = prepared_.row_squares[l];
  std::vector<double> away(layer.outputs);
  for (std::size_t k = 0; k < layer.outputs; ++k) {
    away[k] = kink_distance(layer.activation, row_.z[l][k]);
    if (away[k] <= std::sqrt(squares[k]) * reach_) risk.push_back(static_cast<std::uint32_t>(k));
  }
  if (l == 1 && !risk.empty()) {
    const FirstReach reach = reach_of_first();
    std::erase_if(risk, [&](std::uint32_t k) {
      const float* const weights = prepared_.weights[l].floats.data() + k * layer.inputs;
      double squared[2];
      prepared_.squares->masked(weights, active_mask_.data(), idle_mask_.data(), layer.inputs, squared);
      return away[k] > (std::sqrt(squared[0]) * reach.active + std::sqrt(squared[1]) * reach.idle) * kSlack;
    });
    reach_ = std::min(reach_, std::hypot(reach.active, reach.idle));
  }
  reach_ *= stretch_of(layer.activation) * prepared_.norms[l] * kSlack;
}

template <class T>
double DenseTangents<T>::cost(bool differences) const {
  const std::size_t hidden = prepared_.hidden();
  const std::size_t each = row_.points.slots.size();
  double cost = kCostOfCandidate * static_cast<double>(candidate_count_ * each);
  double back = 0;  // of one unit, from a layer to the features
  const double bends = 0.5 * static_cast<double>(candidate_count_ * each);
  for (std::size_t l = 1; l <= hidden; ++l) {
    const std::size_t inputs = l == 1 ? prepared_.sorted.moved : prepared_.network.layers[l - 1].inputs;
    back += static_cast<double>(active_[l - 1].size() * inputs);
    const double units = l < hidden    ? static_cast<double>(at_risk_[l].size())
                         : differences ? static_cast<double>(prepared_.network.outputs())
                                       : 0;
    cost += units * (back + kCostOfBend * bends * static_cast<double>(l) +
                     2 * static_cast<double>(row_.points.count()));
  }
  return cost;
}

template <class T>
typename DenseTangents<T>::Point DenseTangents<T>::stepped(std::size_t feature, std::size_t slot) const {
  const DensePoints& points = row_.points;
  return {feature * points.slots.size() + slot, points.slots[slot].base, points.slots[slot].weight,
          points.step(feature, slot)};
}

template <class T>
typename DenseTangents<T>::Point DenseTangents<T>::bare(std::size_t which) const {
  const DensePoints::Slot& slot = row_.points.bare[which];
  return {row_.points.stepped() + which, slot.base, slot.weight, 0};
}

template <class T>
void DenseTangents<T>::take(std::size_t l, const Point& point, std::uint32_t unit, double value,
                            bool listed) {
  row_.bends[l][unit] += point.weight * value;
  if (listed) events_.push_back({static_cast<std::uint32_t>(point.number), unit, value});
}

// On a cross-polytope one of a feature's two steps bends the unit, by what it goes beyond the kink. All of
// them are two numbers: how many weights are large enough, and their sum.
template <class T>
bool DenseTangents<T>::count_first(std::size_t j) {
  const DenseActivation& activation = prepared_.network.layers.front().activation;
  if (candidates_[j] < kFewColumns || row_.points.spheres.empty() ||
      activation.kind != DenseActivation::Kind::leaky) {
    return false;
  }
  const SortedWeights& sorted = prepared_.sorted;
  const float* const sizes = sorted.size.data() + j * sorted.moved;
  const double away = std::abs(row_.z.front()[j]);
  double bends = 0;
  for (const DensePoints::Sphere& sphere : row_.points.spheres) {
    const auto beyond = [&](float size) { return static_cast<double>(size) * sphere.stride > away; };
    const auto count =
        static_cast<std::size_t>(std::partition_point(sizes, sizes + candidates_[j], beyond) - sizes);
    bends += sphere.weight *
             (sphere.stride * sorted.sum[j * (sorted.moved + 1) + count] - static_cast<double>(count) * away);
  }
  row_.bends.front()[j] += (1 - activation.slope) * bends;
  return true;
}

template <class T>
void DenseTangents<T>::look_first(std::size_t j, const Point& point, double weight, bool listed) {
  const double z = row_.z.front()[j];
  const double delta = point.step * weight + (point.base > 0 ? row_.shifts.front().row(point.base)[j] : 0);
  const double value = bend_between(prepared_.network.layers.front().activation, z, delta);
  if (value != 0) take(0, point, static_cast<std::uint32_t>(j), value, listed);
}

template <class T>
void DenseTangents<T>::find_first(bool listed) {
  const SortedWeights& sorted = prepared_.sorted;
  const DenseLayer& layer = prepared_.network.layers.front();
  const DensePoints& points = row_.points;
  const std::size_t slots = points.slots.size();
  for (std::size_t j = 0; j < candidates_.size(); ++j) {
    const bool bare_bends = !points.bare.empty() && bare_away_[j] <= 0;
    if ((candidates_[j] == 0 && !bare_bends) || (!listed && count_first(j))) continue;
    for (std::size_t i = 0; i < candidates_[j]; ++i) {
      const std::uint32_t k = sorted.order[j * sorted.moved + i];
      const double weight = prepared_.weights.front()[j * layer.inputs + prepared_.moved[k]];
      for (std::size_t slot = 0; slot < slots; ++slot) look_first(j, stepped(k, slot), weight, listed);
    }
    for (std::size_t b = 0; bare_bends && b < points.bare.size(); ++b) look_first(j, bare(b), 0, listed);
  }
}

// What was found last, by point.
template <class T>
void DenseTangents<T>::sort_events(Found& found) {
  const std::size_t count = row_.points.count();
  found.first.assign(count + 1, 0);
  for (const Event& event : events_) ++found.first[event.point + 1];
  for (std::size_t p = 0; p < count; ++p) found.first[p + 1] += found.first[p];
  next_.assign(found.first.begin(), found.first.end() - 1);
  found.bends.resize(events_.size());
  for (const Event& event : events_)
    found.bends[next_[event.point]++] = {event.unit, static_cast<T>(event.value)};
  events_.clear();
}

template <class T>
void DenseTangents<T>::run(MutableRowsView differences) {
  const std::size_t hidden = prepared_.hidden();
  const bool followed = differences.rows > 0;
  const bool further = followed || std::any_of(at_risk_.begin(), at_risk_.end(),
                                               [](const auto& units) { return !units.empty(); });
  if (hidden > 0) find_first(further);
  for (std::size_t l = 1; l <= hidden && further; ++l) {
    sort_events(found_[l - 1]);
    if (l < hidden) follow(l, at_risk_[l], {});
  }
  if (!followed) return;
  std::vector<std::uint32_t> all(prepared_.network.outputs());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::uint32_t>(k);
  follow(hidden, all, differences);
}

template <class T>
void DenseTangents<T>::follow(std::size_t l, const std::vector<std::uint32_t>& units,
                              MutableRowsView differences) {
  const DenseKernel<T>& kernel = packs_.kernel();
  Panel panel;
  panel.layer = l;
  for (std::size_t done = 0; done < units.size(); done += panel.count) {
    panel.vectors = std::min(kernel.most_vectors, (units.size() - done + kernel.lanes - 1) / kernel.lanes);
    panel.width = panel.vectors * kernel.lanes;
    panel.count = std::min(panel.width, units.size() - done);
    panel.units = units.data() + done;
    begin_panel(panel);
    if (l == 0) {  // no layer between: a linear model
      const DenseLayer& layer = prepared_.network.layers.front();
      for (std::size_t k = 0; k < prepared_.moved.size(); ++k) {
        for (std::size_t q = 0; q < panel.count; ++q)
          panel.slopes[q] =
              static_cast<T>(prepared_.weights.front()[panel.units[q] * layer.inputs + prepared_.moved[k]]);
        at_feature(panel, k, panel.slopes.data(), differences);
      }
    }
    for (std::size_t m = l; m-- > 0;) {
      const DenseLayer& layer = prepared_.network.layers[m];
      const T* const right = sloped(m, panel.width);
      const std::size_t inputs = m == 0 ? prepared_.moved.size() : layer.inputs;
      const std::vector<T>& packed = packs_.back()[m].by_output;
      if (m > 0) rows_[m - 1].resize((inputs + kernel.columns) * panel.width);
      for (std::size_t i = 0; i < inputs; i += kernel.columns) {
        T* const out = m > 0 ? rows_[m - 1].data() + i * panel.width : panel.tile.data();
        kernel.tile(packed.data() + i * layer.outputs, right, active_[m].data(), active_[m].size(),
                    panel.vectors, out);
        for (std::size_t k = i; m == 0 && k < std::min(inputs, i + kernel.columns); ++k)
          at_feature(panel, k, out + (k - i) * panel.width, differences);
      }
    }
    std::fill(panel.slopes.begin(), panel.slopes.end(), T{0});
    for (std::size_t b = 0; b < row_.points.bare.size(); ++b)
      at_point(panel, bare(b), panel.slopes.data(), differences);
  }
}

template <class T>
void DenseTangents<T>::begin_panel(Panel& panel) {
  const std::size_t l = panel.layer, width = panel.width;
  const DenseLayer& layer = prepared_.network.layers[l];
  const bool last = l == prepared_.hidden();
  panel.distance.assign(width, std::numeric_limits<T>::infinity());
  panel.slopes.assign(width, T{0});
  panel.tile.resize(packs_.kernel().columns * width);
  panel.delta.resize(width);
  panel.start.assign(std::max<std::size_t>(1, row_.shifts[l].rows()) * width, T{0});
  for (std::size_t q = 0; q < panel.count; ++q) {
    const std::uint32_t unit = panel.units[q];
    if (last) continue;
    panel.distance[q] = static_cast<T>(kink_distance(layer.activation, row_.z[l][unit]));
    for (std::size_t b = 0; b < row_.shifts[l].rows(); ++b)
      panel.start[b * width + q] = static_cast<T>(row_.shifts[l].row(b)[unit]);
  }
  if (l == 0) return;
  std::vector<T>& rows = rows_[l - 1];
  rows.resize(layer.inputs * width);
  const DenseWeights& weights = prepared_.weights[l];
  const auto fill = [&]<class W>(const std::vector<W>& all) {
    const W* from[64];
    for (std::size_t q = 0; q < panel.count; ++q) from[q] = all.data() + panel.units[q] * layer.inputs;
    for (std::size_t k = 0; k < layer.inputs; ++k) {
      if (l == 1 && active_mask_[k] == 0 && idle_mask_[k] == 0) continue;  // nobody reads it
      for (std::size_t q = 0; q < panel.count; ++q) rows[k * width + q] = static_cast<T>(from[q][k]);
      for (std::size_t q = panel.count; q < width; ++q) rows[k * width + q] = 0;
    }
  };
  weights.doubles.empty() ? fill(weights.floats) : fill(weights.doubles);
}

// A layer's rows times its slopes; slopes of 1 and 0 need no product.
template <class T>
const T* DenseTangents<T>::sloped(std::size_t m, std::size_t width) {
  const std::vector<double>& slope = row_.slope[m];
  if (std::all_of(active_[m].begin(), active_[m].end(), [&](std::uint32_t k) { return slope[k] == 1; }))
    return rows_[m].data();
  sloped_.resize(slope.size() * width);
  for (const std::uint32_t k : active_[m]) {
    const T factor = static_cast<T>(slope[k]);
    for (std::size_t q = 0; q < width; ++q) sloped_[k * width + q] = factor * rows_[m][k * width + q];
  }
  return sloped_.data();
}

template <class T>
void DenseTangents<T>::at_feature(Panel& panel, std::size_t feature, const T* slope,
                                  MutableRowsView differences) {
  for (std::size_t slot = 0; slot < row_.points.slots.size(); ++slot)
    at_point(panel, stepped(feature, slot), slope, differences);
}

template <class T>
void DenseTangents<T>::at_point(Panel& panel, const Point& point, const T* slope,
                                MutableRowsView differences) {
  const std::size_t l = panel.layer, base = point.base;
  std::size_t layers = 0;
  for (std::size_t m = 0; m < l; ++m) {
    const Found& found = found_[m];
    const std::size_t first = found.first[point.number], count = found.first[point.number + 1] - first;
    if (count > 0) lists_[layers++] = {rows_[m].data(), found.bends.data() + first, count};
  }
  const bool last = l == prepared_.hidden();
  // Of the outputs the linear part is formed in double: in a pair most of it cancels.
  const double step = point.step;
  std::uint64_t reached = packs_.kernel().point(panel.start.data() + base * (last ? 0 : panel.width), slope,
                                                last ? T{0} : static_cast<T>(step), lists_.data(), layers,
                                                panel.distance.data(), panel.vectors, panel.delta.data());
  if (last) {
    double* const out = differences.row(point.number);
    for (std::size_t q = 0; q < panel.count; ++q) {
      const std::uint32_t unit = panel.units[q];
      out[unit] = static_cast<double>(panel.delta[q]) + step * static_cast<double>(slope[q]) +
                  (base > 0 ? row_.shifts[l].row(base)[unit] : 0);
    }
    return;
  }
  const DenseActivation& activation = prepared_.network.layers[l].activation;
  for (; reached != 0; reached &= reached - 1) {
    const auto q = static_cast<std::size_t>(std::countr_zero(reached));
    const std::uint32_t unit = panel.units[q];
    const double value = bend_between(activation, row_.z[l][unit], static_cast<double>(panel.delta[q]));
    if (value != 0) take(l, point, unit, value, true);
  }
}

template class DenseTangents<float>;
template class DenseTangents<double>;

}  // namespace harmonia
