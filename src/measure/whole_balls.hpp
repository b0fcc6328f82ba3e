#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harmonia/core/parallel.hpp"
#include "harmonia/model/ball_path.hpp"
#include "held_blocks.hpp"
#include "row_estimator.hpp"
#include "row_start.hpp"

namespace harmonia {

/// Measures rows whose balls the model answers as wholes. A thread takes a few rows all the way, from their
/// values to their entries, while its caches hold them.
class WholeBalls {
 public:
  /// What its owner has, and keeps.
  struct Parts {
    const Model& model;
    const GammaOptions& options;
    const Ball& ball;
    const Observer& observer;
    RowStarter& starter;
    Run& run;
  };

  /// Null if the model has no way to answer these balls.
  static std::unique_ptr<WholeBalls> open(const Parts& parts, std::size_t threads);

  /// Puts the entries of rows first … first + count − 1 where they belong; rows that the model refuses, or
  /// does not answer with numbers, get none. On an error, that of the first row which has one is thrown.
  /// Where there are several threads, one of them first does what is to be done beside, unless it is empty.
  void measure(HeldBlock& held, std::size_t first, std::size_t count, ThreadPool& pool,
               const std::function<void()>& beside);

 private:
  // One thread's.
  struct Asker {
    std::unique_ptr<BallAsker> path;  // made when it is first needed
    std::vector<RowEstimator> rows;
    std::vector<const RowBall*> balls;
    std::vector<BallAnswer> answers;
    StudentQuantiles quantiles;
  };

  WholeBalls(const Parts& parts, std::size_t threads) : parts_(parts), askers_(threads) {}
  void measure(HeldBlock& held, std::size_t first, std::size_t count, Asker& asker) const;
  std::size_t most_rows() const;  // of a group
  void start(const HeldBlock& held, std::size_t first, std::size_t count, Asker& asker) const;

  Parts parts_;
  std::size_t least_rows_ = 1;  // of a group, if there are so many
  std::vector<Asker> askers_;
};

}  // namespace harmonia
