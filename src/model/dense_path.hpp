#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "harmonia/model/ball_path.hpp"
#include "harmonia/model/dense_network.hpp"

namespace harmonia {

/// Sums over balls around the rows of a dense network, see DenseBalls.
class DensePath final : public BallPath {
 public:
  explicit DensePath(DenseNetwork network);
  ~DensePath() override;

  std::string name() const override;
  bool gives_sums() const override { return true; }
  std::unique_ptr<BallAsker> open(const Ball& ball) const override;

  /// A ball, and what was prepared for it: weights are sorted and packed.
  struct Prepared;

 private:
  DenseNetwork network_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Prepared> last_;  // streams and sweeps ask for the same ball again and again
};

}  // namespace harmonia
