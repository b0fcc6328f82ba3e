#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/model/differentiable.hpp"

namespace harmonia {

class BallPath;
class FirstLayer;
class RayPath;

/// What is known of a model before it is asked.
struct ModelInfo {
  std::string name;                    ///< as the user wrote it
  std::string kind;                    ///< "function", "command", "http", …
  std::size_t inputs = 0;              ///< columns of x
  std::size_t outputs = 0;             ///< columns of y
  std::vector<std::size_t> row_shape;  ///< of a row that its file says is no plain list of features
  Scalar scalar = Scalar::float64;     ///< the type that evaluate() wants its rows in
  bool reentrant = true;               ///< evaluate() may be called from several threads at once
  bool takes_missing = false;          ///< NaN in x means "missing" and is answered
  bool binary = false;                 ///< its single output is the probability of class 1
  std::size_t example_rows = 0;        ///< rows it was asked when it was opened, to learn its shape
  std::size_t preferred_threads = 0;   ///< calls in flight that suit it; 0: one per core
  std::size_t preferred_batch = 0;     ///< rows a call that suit it; 0: no preference
  std::string sha256;                  ///< of its file, in hexadecimal; empty: there is no file
  std::string warning;                 ///< a sentence on why its numbers may mislead; empty: none
  std::string fast_path;  ///< how it answers points sooner by itself, "none: why"; empty: not asked
  std::vector<std::string> features;  ///< names of its inputs, if it has them
  std::vector<std::string> classes;   ///< names of its classes in the order of its outputs, if it has them
};

/// Points that are rows with some of their numbers replaced, as a ball's mostly are: for a model that makes
/// them itself, where it computes.
struct PointsToMake {
  RowsView bases;                         ///< rows that points are made of, in the model's type
  std::span<const std::uint32_t> base;    ///< of every point: its row of `bases`
  std::span<const std::size_t> first;     ///< of every point: its first replacement; and how many there are
  std::span<const std::uint32_t> column;  ///< of every replacement
  std::span<const double> value;          ///< of every replacement; the model's type holds it
  std::span<const std::uint32_t> centre;  ///< of every point: the row of `bases` that its ball is around
  bool paired = false;  ///< but for centres, a point is followed by its mirror image, or follows it

  std::size_t points() const { return base.size(); }
};

/// f : R^n -> R^k. Row i of y answers row i of x.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelInfo& info() const = 0;
  /// x: rows × inputs, in info().scalar. y: rows × outputs. Throws Error(model) when there is no answer.
  /// Safe to call from several threads if info().reentrant.
  virtual void evaluate(RowsView x, MutableRowsView y) const = 0;
  /// Where the rows of a call of evaluate(), `rows` at most, are best written, for a model that hands its
  /// rows on: memory of its own, which it uses for nothing else while this is held, and which that call
  /// spoils. Null: anywhere, and so for every model that is reentrant.
  virtual std::shared_ptr<void> batch_memory(std::size_t /*rows*/) const { return nullptr; }
  /// Whether it is better asked for points to make: it computes elsewhere, and rows are long to send.
  virtual bool makes_points() const { return false; }
  /// As evaluate(), of points that it makes; only where makes_points().
  virtual void evaluate_made(const PointsToMake& /*points*/, MutableRowsView /*y*/) const {}
  /// A way to answer whole balls sooner; null: it has none.
  virtual const BallPath* ball_path() const { return nullptr; }
  /// A way to answer the points of many sigmas along one direction sooner; null: it has none.
  virtual const RayPath* ray_path() const { return nullptr; }
  /// The model in two parts, for points that share displacements; null: it has no such parts.
  virtual const FirstLayer* first_layer() const { return nullptr; }
  /// Its gradients; null: it has none.
  virtual const Differentiable* differentiable() const { return nullptr; }
};

}  // namespace harmonia
