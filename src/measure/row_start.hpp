#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harmonia/measure/gamma.hpp"
#include "row_estimator.hpp"

namespace harmonia {

/// What is known of a row before the model is asked for anything.
struct RowStart {
  RowBall ball;
  VisitPlan plan;

  /// Evaluations of the whole visit, that of the row included.
  std::uint64_t cost() const { return 1 + plan.limit * ball.shape().points(); }
};

/// Puts balls around rows, and remembers what is to be said of them. Safe to call from several threads.
class RowStarter {
 public:
  /// Keeps references.
  RowStarter(const ModelInfo& model, const GammaOptions& options, const Ball& ball)
      : model_(model), options_(options), ball_(ball) {}

  /// Throws Error(input) for a value that is missing, if the model takes none, or is outside of its bounds.
  RowStart start(std::span<const double> x, std::uint64_t number);
  /// Looks at a grid's spacing.
  void look_at(const DataInfo& data);
  /// Each sentence once, in the order of the alphabet.
  std::vector<std::string> warnings() const { return {said_.begin(), said_.end()}; }

 private:
  void look_at(const RowStart& row);
  void say(std::string sentence);

  const ModelInfo& model_;
  const GammaOptions& options_;
  const Ball& ball_;
  std::mutex mutex_;
  std::set<std::string> said_;
};

}  // namespace harmonia
