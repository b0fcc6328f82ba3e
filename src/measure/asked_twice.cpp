#include "asked_twice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harmonia/core/run.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kShareOfBudget = 20;

std::uint64_t rows_asked(std::uint64_t rows, std::uint64_t left) {
  const std::uint64_t most = std::min<std::uint64_t>(rows, kRowsAskedTwice);
  return left == Ledger::kUnlimited ? most : std::min(most, left / kShareOfBudget / (2 * kPointsAskedTwice));
}

}  // namespace

AskedTwice ask_twice(PointAsker& asker, MatrixView<const double> x, const Noise& noise,
                     std::span<const double> sigmas) {
  const std::size_t rows = rows_asked(x.rows, asker.run().ledger.left()), count = rows * kPointsAskedTwice;
  // Point 0 of a row is the row; the others are samples at the least, a middle and the largest sigma.
  const auto write = [&](std::size_t i, std::span<double> out) {
    const std::span<const double> row(x.row(i / kPointsAskedTwice), x.columns);
    const std::size_t k = i % kPointsAskedTwice;
    if (k == 0) {
      std::copy(row.begin(), row.end(), out.begin());
    } else {
      noise.put(row, sigmas[(sigmas.size() - 1) * (k - 1) / (kPointsAskedTwice - 2)], k - 1, false, out);
    }
  };
  const std::vector<long long> once = ask_classes(asker, count, write);
  const std::vector<long long> again =
      ask_classes(asker, count, [&](std::size_t i, std::span<double> out) { write(count - 1 - i, out); });
  AskedTwice twice{.asked = count};
  for (std::size_t i = 0; i < count; ++i) twice.differed += once[i] != again[count - 1 - i] ? 1 : 0;
  return twice;
}

std::uint64_t asked_twice_cost(std::uint64_t rows, std::uint64_t left) {
  return 2 * kPointsAskedTwice * rows_asked(rows, left);
}

std::optional<std::string> asked_twice_warning(const AskedTwice& twice) {
  if (twice.differed == 0) return std::nullopt;
  return fmt::format(
      "the model answered {} of {} points asked twice with another class: what is measured is the model's "
      "own "
      "chance along with the noise",
      twice.differed, twice.asked);
}

}  // namespace harmonia
