#include "point_pairs.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <map>

#include "device.hpp"

namespace harmonia {
namespace {

constexpr std::int64_t kTried = 3;  // pairs around each row
constexpr double kMoved = 0.5;      // of the rows' own size: far enough that operations show that they are not linear
constexpr double kSame = 2e-3;      // of the largest difference; an operation that is misunderstood is far off

}  // namespace

PointPairs::PointPairs(const PointsToMake& points) {
  std::map<std::uint32_t, std::int64_t> rows;
  std::int64_t open = -1, open_row = -1;  // a point that waits for its mirror image
  const auto close = [&](std::int64_t other) {
    row.push_back(open_row);
    plus.push_back(open);
    minus.push_back(other);
    open = -1;
  };
  for (std::size_t i = 0; i < points.points(); ++i) {
    const auto [found, is_new] = rows.try_emplace(points.centre[i], static_cast<std::int64_t>(centres.size()));
    if (is_new) centres.push_back(points.centre[i]);
    const auto point = static_cast<std::int64_t>(i);
    const bool is_row = points.base[i] == points.centre[i] && points.first[i] == points.first[i + 1];
    if (open >= 0 && (is_row || open_row != found->second)) close(open);
    if (is_row) {
      alone.push_back(point);
      alone_row.push_back(found->second);
    } else if (open >= 0) {
      close(point);
    } else {
      open = point;
      open_row = found->second;
    }
  }
  if (open >= 0) close(open);
}

at::Tensor differences_of(const at::Tensor& centres, const at::Tensor& row, const at::Tensor& plus,
                          const at::Tensor& minus) {
  const at::Tensor there = centres.to(at::kDouble).index_select(0, row);
  const at::Tensor up = plus - there, down = minus - there;
  return at::cat({((up - down) * 0.5).to(centres.scalar_type()), (up + down).to(centres.scalar_type())});
}

at::Tensor point_answers(const PairAnswers& answers, const at::Tensor& row, bool plus) {
  const std::int64_t pairs = row.size(0);
  const at::Tensor d = answers.differences.narrow(0, 0, pairs).to(at::kDouble),
                   s = answers.differences.narrow(0, pairs, pairs).to(at::kDouble);
  const at::Tensor there = answers.centres.to(at::kDouble).index_select(0, row);
  return there + (plus ? d : -d) + s * 0.5;
}

std::string disagreement(const Differences& differences, torch::jit::Module& network, const at::Tensor& rows) {
  try {
    const at::Tensor row = at::arange(rows.size(0), at::kLong).repeat(kTried).to(rows.device());
    const double size = std::max(1.0, rows.abs().mean().item<double>());
    std::vector<std::int64_t> shape(rows.sizes().begin(), rows.sizes().end());
    shape[0] = row.size(0);
    at::Generator draws = at::detail::createCPUGenerator(1);
    const at::Tensor moved =
        at::empty(shape, at::kFloat).normal_(0, kMoved * size, draws).to(rows.options());
    const at::Tensor there = rows.index_select(0, row), plus = there + moved, minus = there - moved;
    const PairAnswers found = differences.answer({rows.clone(), row, differences_of(rows, row, plus, minus)});
    const auto asked = [&](const at::Tensor& points) {
      return network.forward({points.clone()}).toTensor().reshape({points.size(0), -1}).to(at::kDouble);
    };
    const at::Tensor centres = asked(there), up = asked(plus) - centres, down = asked(minus) - centres;
    const at::Tensor expected = at::cat({(up - down) * 0.5, up + down});
    const double apart = (found.differences - expected).abs().max().item<double>();
    const double largest = expected.abs().max().item<double>();
    if (!(apart <= kSame * largest)) return fmt::format("they differ by {:.2g}, where the largest is {:.2g}", apart, largest);
    return {};
  } catch (const std::exception& error) {
    return reason(error);
  }
}

}  // namespace harmonia
