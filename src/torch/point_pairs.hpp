#pragma once

#include <cstdint>
#include <vector>

#include "differences.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// Which of the points to make are rows, and which are pairs.
struct PointPairs {
  std::vector<std::int64_t> centres;          ///< of every row: its number among the bases
  std::vector<std::int64_t> row;              ///< of every pair
  std::vector<std::int64_t> plus, minus;      ///< of every pair: its points; the same one twice, if it has no other
  std::vector<std::int64_t> alone, alone_row;  ///< points that are rows, and which

  explicit PointPairs(const PointsToMake& points);
};

/// Pairs around rows, of their points, each in a network's type, plus and minus: pairs × inputs. Differences are taken
/// in double precision.
at::Tensor differences_of(const at::Tensor& centres, const at::Tensor& row, const at::Tensor& plus,
                          const at::Tensor& minus);

/// What was answered, point by point, in double precision.
at::Tensor point_answers(const PairAnswers& answers, const at::Tensor& row, bool plus);

/// Empty if differences through the network come to the same as the points themselves, both around `rows` (rows ×
/// inputs); else what is not the same.
std::string disagreement(const Differences& differences, torch::jit::Module& network, const at::Tensor& rows);

}  // namespace harmonia
