#pragma once

#include <torch/script.h>

#include <memory>
#include <vector>

namespace harmonia {

/// Rows and pairs of points around them. A pair is x + D + S/2 and x − D + S/2: of a point and its mirror image, S is
/// what rounding left.
struct PairBatch {
  at::Tensor centres;      ///< rows × the shape of a row
  at::Tensor row;          ///< of every pair: its row
  at::Tensor differences;  ///< D of all pairs, then S of all pairs: 2 pairs × the shape of a row
};

/// What a network answers to these: f(x + D + S/2) = f(x) + D' + S'/2, likewise for the other.
struct PairAnswers {
  at::Tensor centres;      ///< rows × outputs, in double precision
  at::Tensor differences;  ///< D' of all pairs, then S': 2 pairs × outputs
};

/// A network that is asked for differences instead of points. D and S go through its layers beside the row itself:
/// layers that are linear take them without their constant terms, others by the exact difference. A second difference
/// then has the relative accuracy of the numbers it is computed in; the difference of two answers has lost it. So
/// products may run on a GPU's tensor cores, which round what they multiply. The rows themselves, which are few beside
/// their pairs, are computed in double precision: they say where a relu has its kink.
class Differences {
 public:
  /// module: frozen. Throws std::runtime_error that names an operation whose differences are not known.
  explicit Differences(const torch::jit::Module& module);
  ~Differences();
  Differences(const Differences&) = delete;
  Differences& operator=(const Differences&) = delete;

  /// Safe to call from several threads.
  PairAnswers answer(const PairBatch& batch) const;

 private:
  class Program;
  std::unique_ptr<Program> program_;
};

}  // namespace harmonia
