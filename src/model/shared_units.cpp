#include "harmonia/model/shared_units.hpp"

#include <algorithm>
#include <utility>

#include "dense_prepared.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kTogether = 64;  // displacements whose products are made together
constexpr std::size_t kRowsTogether = 16;

// What is done a number, in nanoseconds, about, with one thread of a processor with AVX-512; see
// bench/first_layer_bench.
constexpr double kMultiplied = 0.03;  // by ONNX Runtime, in single precision

// Of points of one kind.
struct Costs {
  double coordinate;  // to make one
  double unit;        // to write one, and its part of the products, which serve fewer points of noise
};
constexpr Costs kOfBalls{0.5, 0.4}, kOfNoise{1.2, 0.7};

// Whether the units of points are expected sooner than their coordinates and the products of these, and
// whether there is room for the products of so many displacements.
bool pays(const FirstLayer& layer, std::size_t inputs, const Costs& costs, std::uint64_t displacements) {
  const auto n = static_cast<double>(inputs), units = static_cast<double>(layer.units());
  return n * (costs.coordinate + units * kMultiplied) > units * costs.unit &&
         displacements <= SharedUnits::kMostBytes / (sizeof(double) * layer.units());
}

}  // namespace

SharedUnits::SharedUnits(const Model& model, Displacements displacements, std::size_t most_bytes)
    : layer_(*model.first_layer()),
      inputs_(model.info().inputs),
      displacements_(std::move(displacements)),
      kernel_(dense_units_for(best_simd())),
      most_groups_(most_bytes / (sizeof(double) * kTogether * layer_.units())) {}

std::unique_ptr<SharedUnits> SharedUnits::of_ball(const Model& model, const Ball& ball) {
  const FirstLayer* const layer = model.first_layer();
  if (layer == nullptr || !ball.shares_displacements()) return nullptr;
  const std::vector<double> origin(model.info().inputs);
  const std::uint64_t units = RowBall(ball, origin, 0).shape().units;
  if (units == 0 || !pays(*layer, model.info().inputs, kOfBalls, units)) return nullptr;
  return std::make_unique<SharedUnits>(
      model, Displacements{units, [&ball, origin](std::uint64_t k, std::span<double> d) {
                             RowBall(ball, origin, 0).displacement(k, d);
                           }});
}

std::unique_ptr<SharedUnits> SharedUnits::of_noise(const Model& model, const Noise& noise,
                                                   std::uint64_t samples) {
  const FirstLayer* const layer = model.first_layer();
  if (layer == nullptr || !noise.linear()) return nullptr;
  if (!pays(*layer, model.info().inputs, kOfNoise, samples)) return nullptr;
  return std::make_unique<SharedUnits>(
      model, Displacements{kMostNoiseSamples,
                           [&noise](std::uint64_t k, std::span<double> d) { noise.displacement(k, d); }});
}

void SharedUnits::starts(std::span<const double* const> rows, ThreadPool& pool,
                         MatrixView<double> out) const {
  pool.run((rows.size() + kRowsTogether - 1) / kRowsTogether, [&](std::size_t, std::size_t part) {
    const std::size_t first = part * kRowsTogether, count = std::min(kRowsTogether, rows.size() - first);
    Matrix<double> x(count, inputs_);
    for (std::size_t i = 0; i < count; ++i) std::copy_n(rows[first + i], inputs_, x.row(i));
    layer_.project(std::as_const(x).view(), true, out.slice(first, count));
  });
}

// Null if there is no room for it.
SharedUnits::Group* SharedUnits::find(std::uint64_t group) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = groups_.find(group); found != groups_.end()) return found->second.get();
    if (groups_.size() >= most_groups_) return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (groups_.size() >= most_groups_ && !groups_.contains(group)) return nullptr;
  std::unique_ptr<Group>& found = groups_[group];
  if (found == nullptr) found = std::make_unique<Group>();
  return found.get();
}

void SharedUnits::make(std::uint64_t group, std::vector<double>& units) const {
  const std::uint64_t first = group * kTogether, count = std::min(kTogether, displacements_.count - first);
  Matrix<double> d(count, inputs_);
  for (std::uint64_t i = 0; i < count; ++i) displacements_.write(first + i, {d.row(i), inputs_});
  units.resize(count * layer_.units());
  layer_.project(std::as_const(d).view(), false, {units.data(), count, layer_.units()});
}

const double* SharedUnits::Reader::along(std::uint64_t number) {
  if (const std::uint64_t group = number / kTogether; group != group_) {
    if (Group* const kept = shared_.find(group); kept != nullptr) {
      std::call_once(kept->made, [&] { shared_.make(group, kept->units); });
      units_ = kept->units.data();
    } else {
      shared_.make(group, own_);
      units_ = own_.data();
    }
    group_ = group;
  }
  return units_ + number % kTogether * shared_.units();
}

bool SharedUnits::Reader::write(const SharedPoint& point, std::span<float> out) {
  const double* const product = point.step == 0 ? point.start : along(point.number);
  return shared_.kernel_.floats(point.start, product, point.step, out.size(), out.data());
}

bool SharedUnits::Reader::write(const SharedPoint& point, std::span<double> out) {
  const double* const product = point.step == 0 ? point.start : along(point.number);
  return shared_.kernel_.doubles(point.start, product, point.step, out.size(), out.data());
}

}  // namespace harmonia
