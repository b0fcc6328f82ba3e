#pragma once

#include <vector>

#include "dense_points.hpp"
#include "dense_prepared.hpp"

namespace harmonia {

/// What is known of a network at one row, and of the ball around it.
struct DenseRow {
  DensePoints points;
  std::vector<std::vector<double>> z, slope;  ///< of every layer but the last: sums, slopes of tangents
  std::vector<Matrix<double>> shifts;      ///< of every layer, bases × units: how far a tangent goes there
  std::vector<std::vector<double>> bends;  ///< of every layer but the last: Σ weight · bend over the points
  std::vector<double> outputs;             ///< of the last layer
  std::vector<double> sum;                 ///< Σ weight · difference of the last layer, if known
};

/// Bends are found only where they can be: units that a step may carry over a kink are known from the sorted
/// weights of the first layer, and from the norms of the others. All else is linear.
template <class T>
class DenseTangents {
 public:
  /// Makes its plan; `row` is kept by the caller.
  DenseTangents(const DensePrepared& prepared, DenseRow& row);
  /// Multiplications that it will take, about; `differences`: of the last layer at every point too.
  double cost(bool differences) const;
  /// Fills row.bends and, if it has rows, `differences` (points × outputs of the last layer).
  void run(MutableRowsView differences);

 private:
  struct Point {
    std::size_t number, base;
    double weight, step;
  };
  struct FirstReach {
    double active, idle;
  };
  struct Event {
    std::uint32_t point, unit;
    double value;
  };
  /// The events of one layer, by point.
  struct Found {
    std::vector<std::uint32_t> first;
    std::vector<DenseBend<T>> bends;
  };
  /// Units of a layer whose differences are followed together.
  struct Panel {
    std::size_t layer = 0, count = 0, vectors = 0, width = 0;
    const std::uint32_t* units = nullptr;
    std::vector<T> start, distance, slopes, tile, delta;
  };

  Point stepped(std::size_t feature, std::size_t slot) const;
  Point bare(std::size_t which) const;
  void plan_first();
  double shift_of(std::size_t unit, const std::vector<DensePoints::Slot>& slots) const;
  double longest_shift(const std::vector<DensePoints::Slot>& slots) const;
  FirstReach reach_of_first() const;
  void plan_layer(std::size_t l);
  void find_first(bool listed);
  bool count_first(std::size_t j);
  void look_first(std::size_t j, const Point& point, double weight, bool listed);
  void take(std::size_t l, const Point& point, std::uint32_t unit, double value, bool listed);
  void sort_events(Found& found);
  void follow(std::size_t l, const std::vector<std::uint32_t>& units, MutableRowsView differences);
  void begin_panel(Panel& panel);
  const T* sloped(std::size_t m, std::size_t width);
  void at_feature(Panel& panel, std::size_t feature, const T* slope, MutableRowsView differences);
  void at_point(Panel& panel, const Point& point, const T* slope, MutableRowsView differences);

  const DensePrepared& prepared_;
  const DensePacks<T>& packs_;
  DenseRow& row_;
  std::vector<std::uint32_t> candidates_;  // of every unit of the first layer: features that may bend it
  std::vector<double> away_;  // of every unit of the first layer: from its kink, less the shifts of bases
  std::vector<double> bare_away_;   // the same, of points that are bases
  std::vector<float> active_mask_;  // 1: this unit of the first layer has a slope
  std::vector<float> idle_mask_;    // 1: it has none, and may bend
  double shift_ = 0,
         bare_shift_ = 0;  // of the first layer: the longest of a base that steps start from, or is a point
  std::size_t candidate_count_ = 0;
  std::vector<std::vector<std::uint32_t>> active_;  // of every layer but the last: units whose slope is not 0
  std::vector<std::vector<std::uint32_t>> at_risk_;  // the same: units that may bend; not of the first
  double reach_ = 0;                                 // of what comes out of the layer before, its longest
  std::vector<Event> events_;
  std::vector<Found> found_;          // of every layer but the last
  std::vector<std::vector<T>> rows_;  // of these: what the panel's units get from each unit
  std::vector<T> sloped_;
  std::vector<DenseBends<T>> lists_;  // of the point that is looked at
  std::vector<std::uint32_t> next_;
};

/// All points through all layers, as differences: the first layer costs one product a unit.
template <class T>
class DenseRankOne {
 public:
  DenseRankOne(const DensePrepared& prepared, DenseRow& row) : prepared_(prepared), row_(row) {}
  /// Multiplications that it will take, about.
  double cost() const;
  /// Fills row.sum or, if it has rows, `differences` (points × outputs of the last layer).
  void run(MutableRowsView differences);

 private:
  void follow(std::size_t width, const std::vector<std::size_t>& points, MutableRowsView differences);

  const DensePrepared& prepared_;
  DenseRow& row_;
  std::vector<std::vector<DenseChange<T>>> changes_;
  std::vector<std::vector<T>> values_;  // of every layer: units × width
};

}  // namespace harmonia
