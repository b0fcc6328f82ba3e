#include "tree_rays.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace harmonia {
namespace {

constexpr std::size_t kValueBytes = 256 * 1024;  // of points that wait for the same trees
constexpr std::size_t kMostGroups = 64;          // of lanes, in these
constexpr std::size_t kTreeBytes = 64 * 1024;    // of trees that these are walked through in turn

// Lanes in use: few are left idle if no ray is cut, or all are used.
std::size_t lanes_for(std::size_t sigmas) {
  constexpr std::size_t kMost = kRayLanes;
  const std::size_t parts = (sigmas + kMost - 1) / kMost;  // of a ray
  const std::size_t whole = parts == 1 ? kMost / sigmas * sigmas : sigmas / parts;
  return whole >= kMost - kMost / 8 && (parts == 1 || sigmas % parts == 0) ? whole : kMost;
}

// Nanoseconds a point, by rays and one by one: for each tree of depth 6 and for each feature, as
// bench/rays_bench measured them.
struct RayCost {
  double rays, points;
};
RayCost cost_of(std::size_t sigmas, double levels, double features, bool sliced) {
  const double rays = 1 / static_cast<double>(sigmas), trees = levels / 6;
  return {(1.2 + 26 * rays) * trees + (0.2 + 6.5 * rays) * features,
          sliced ? 150 + 0.5 * trees + 2.4 * features : 2.4 * trees + 2.1 * features};
}
constexpr double kWorthwhile = 1.15;  // what a gain by measured costs has to be

template <class T>
class Asker final : public RayAsker {
 public:
  Asker(const TreeRays& path, const Noise& noise, std::span<const double> sigmas)
      : path_(path),
        sigmas_(sigmas),
        ray_(noise, path.inputs),
        lanes_(lanes_for(sigmas.size())),
        size_(path.trees.rows.inputs() * kRayLanes),
        together_(std::clamp<std::size_t>(kValueBytes / (size_ * sizeof(T) + 1), 1, kMostGroups)),
        width_(path.trees.answers.margins() * (kRayLanes + 1)),
        values_(together_ * size_),
        changes_(together_ * width_) {}

  bool evaluate(std::span<const double> row, std::uint64_t first, MatrixView<double> y) override {
    const std::size_t sigmas = sigmas_.size(), most = together_ * lanes_;
    missing_ = false;
    for (std::size_t input = 0; input < path_.trees.rows.inputs(); ++input)
      missing_ |= !path_.trees.rows.plain(input) || std::isnan(row[path_.trees.rows.column(input)]);
    bool finite = true;
    std::size_t answered = 0;  // points before those that are filled in
    for (std::size_t point = 0; point < y.rows;) {
      const std::size_t sigma = point % sigmas;
      if (sigma == 0) {
        ray_.take(first + point / sigmas, sigmas_);
        finite &= all_finite(row);
      }
      // As many as there are up to the end of the ray, or of the lanes.
      const std::size_t place = point - answered;
      const std::size_t count = std::min(sigmas - sigma, lanes_ - place % lanes_);
      fill(row, sigma, count, values_.data() + place / lanes_ * size_ + place % lanes_);
      point += count;
      if (point - answered == most || point == y.rows) {
        finite &= answer({y.row(answered), point - answered, y.columns});
        answered = point;
      }
    }
    return finite;
  }

 private:
  // Whether the ray's points are. The last sigma takes every feature farthest.
  bool all_finite(std::span<const double> row) const {
    bool finite = true;
    for (std::size_t column = 0; column < row.size(); ++column)
      finite &= !std::isinf(static_cast<T>(ray_.last(column, row[column])));
    return finite;
  }

  // Writes points of the ray, from a sigma on, to lanes from `to` on.
  void fill(std::span<const double> row, std::size_t sigma, std::size_t count, T* to) const {
    const TreeRowsMaker& rows = path_.trees.rows;
    for (std::size_t input = 0; input < rows.inputs(); ++input, to += kRayLanes) {
      const std::size_t column = rows.column(input);
      ray_.put(column, row[column], sigma, std::span(to, count));
      if (rows.plain(input)) continue;
      for (std::size_t s = 0; s < count; ++s)
        to[s] = static_cast<T>(rows.seen(input, static_cast<double>(to[s])));
    }
  }

  // Answers the points that were filled in. False: an answer is not finite.
  bool answer(MatrixView<double> y) {
    std::fill(changes_.begin(), changes_.end(), 0);
    for (const TreePack& pack : path_.trees.trees.packs) {
      const std::size_t bytes = pack.threshold.size() * 2 * sizeof(float) + pack.leaf.size() * sizeof(double);
      const std::size_t step = std::max<std::size_t>(1, kTreeBytes * pack.view.count / bytes);
      for (std::size_t tree = 0; tree < pack.view.count; tree += step) {
        for (std::size_t first = 0; first < y.rows; first += lanes_) {
          const std::size_t lanes = std::min(lanes_, y.rows - first);
          RayPoints points{.lanes = ~std::uint64_t{0} >> (kRayLanes - lanes), .missing = missing_};
          const T* const values = values_.data() + first / lanes_ * size_;
          if constexpr (std::is_same_v<T, float>) {
            points.narrow = values;
          } else {
            points.exact = values;
          }
          path_.trees.kernel.walk_rays(pack.view, tree, std::min(tree + step, pack.view.count), points,
                                       changes_.data() + first / lanes_ * width_);
        }
      }
    }
    for (std::size_t first = 0; first < y.rows; first += lanes_) {
      const std::size_t lanes = std::min(lanes_, y.rows - first);
      std::uint64_t* const changes = changes_.data() + first / lanes_ * width_;
      sums_.resize(width_);
      for (std::size_t i = 0; i < width_; ++i) {
        if (i % (kRayLanes + 1) > 0) changes[i] += changes[i - 1];
        sums_[i] = static_cast<std::int64_t>(changes[i]);
      }
      path_.trees.answers.answer(sums_.data(), kRayLanes + 1, 1, lanes, room_,
                                 {y.row(first), lanes * y.columns});
    }
    return std::all_of(y.data, y.data + y.rows * y.columns,
                       [](double value) { return std::isfinite(value); });
  }

  const TreeRays& path_;
  std::span<const double> sigmas_;
  NoiseRay ray_;
  std::size_t lanes_, size_, together_, width_;
  bool missing_ = false;                // splits may meet NaN
  std::vector<T> values_;               // together × inputs × kRayLanes
  std::vector<std::uint64_t> changes_;  // together × margins × (kRayLanes + 1)
  std::vector<std::int64_t> sums_;
  std::vector<double> room_;
};

}  // namespace

TreeRays::TreeRays(const PreparedTrees& prepared, const ModelInfo& info, bool only_if_worthwhile)
    : trees(prepared), inputs(info.inputs), scalar(info.scalar), by_cost(only_if_worthwhile) {}

std::string TreeRays::name() const { return "trees"; }

std::unique_ptr<RayAsker> TreeRays::open(const Noise& noise, std::span<const double> sigmas) const {
  if (noise.options().directions.rows() > 0) return nullptr;
  double levels = 0;
  for (const TreePack& pack : trees.trees.packs)
    levels += static_cast<double>(pack.view.count * pack.view.depth);
  const RayCost cost = cost_of(sigmas.size(), levels, static_cast<double>(inputs), trees.slices != nullptr);
  if (by_cost && cost.points < kWorthwhile * cost.rays) return nullptr;
  if (scalar == Scalar::float32) return std::make_unique<Asker<float>>(*this, noise, sigmas);
  return std::make_unique<Asker<double>>(*this, noise, sigmas);
}

}  // namespace harmonia
