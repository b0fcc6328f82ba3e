#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "harmonia/ball/ball.hpp"
#include "harmonia/ball/noise.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/model/first_layer.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a path that shares a first layer is called in results.
constexpr const char* kSharedFirstLayer = "shared directions";

/// A point x + step · d, where d is one of the displacements that rows share.
struct SharedPoint {
  const double* start = nullptr;  ///< W·x + b, as SharedUnits::starts() gives it
  double step = 0;                ///< 0: the row itself
  std::uint64_t number = 0;       ///< of the displacement
};

/// Displacements that many rows share, as a model's first layer sees them: W·d, in double, made when it is
/// first asked for and kept for all threads as far as its memory goes. Safe to call from several threads.
class SharedUnits {
 public:
  /// Memory for products, in bytes; those beyond it are made whenever they are needed.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  /// What the displacements are: write(k, d) writes that of number k < count, from several threads at once.
  struct Displacements {
    std::uint64_t count = 0;
    std::function<void(std::uint64_t k, std::span<double> d)> write;
  };

  /// Of a model that has a first layer; it outlives this.
  SharedUnits(const Model& model, Displacements displacements, std::size_t most_bytes = kMostBytes);

  /// For the points of balls that share their displacements; null if the model has no first layer, the balls
  /// share nothing, the products are too many to keep, or points are expected sooner. How many rows there are
  /// decides nothing, so that a row's numbers do not depend on the others. The ball outlives what is made.
  static std::unique_ptr<SharedUnits> of_ball(const Model& model, const Ball& ball);
  /// The same for noise, of which a row has `samples` samples, about, at every sigma.
  static std::unique_ptr<SharedUnits> of_noise(const Model& model, const Noise& noise, std::uint64_t samples);

  const FirstLayer& layer() const { return layer_; }
  std::size_t units() const { return layer_.units(); }
  /// W·x + b of these rows, on the pool's threads. out: rows × units.
  void starts(std::span<const double* const> rows, ThreadPool& pool, MatrixView<double> out) const;

  /// One thread's way to them. Not safe to call from several threads.
  class Reader {
   public:
    explicit Reader(const SharedUnits& shared) : shared_(shared) {}
    /// Writes a point's units, start + step · W·d in double and cast once. False if one of them is not
    /// finite: the point itself is to be asked for.
    bool write(const SharedPoint& point, std::span<float> out);
    bool write(const SharedPoint& point, std::span<double> out);

   private:
    const double* along(std::uint64_t number);

    const SharedUnits& shared_;
    std::uint64_t group_ = ~std::uint64_t{0};
    const double* units_ = nullptr;  // of the group
    std::vector<double> own_;        // of a group that is not kept
  };

 private:
  struct Group {
    std::once_flag made;
    std::vector<double> units;
  };

  Group* find(std::uint64_t group) const;
  void make(std::uint64_t group, std::vector<double>& units) const;

  const FirstLayer& layer_;
  std::size_t inputs_;
  Displacements displacements_;
  const struct DenseUnits& kernel_;
  std::size_t most_groups_;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::uint64_t, std::unique_ptr<Group>> groups_;
};

}  // namespace harmonia
