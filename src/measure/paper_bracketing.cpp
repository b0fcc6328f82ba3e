#include <algorithm>
#include <cmath>

#include "persistence_search.hpp"

namespace harmonia {

void PaperBracketing::finish(PersistenceOutcome outcome) {
  result_.gamma = gamma_;
  result_.outcome = outcome;
  stage_ = Stage::over;
}

std::optional<SampleRequest> PaperBracketing::next() {
  if (stage_ == Stage::over) return std::nullopt;
  const double sigma = stage_ == Stage::low ? low_ : stage_ == Stage::high ? high_ : (low_ + high_) / 2;
  return SampleRequest{.sigma = sigma, .first = drawn_, .count = options_.samples};
}

void PaperBracketing::take(const SampleRequest& request, std::span<const unsigned char> kept) {
  drawn_ += request.count;
  result_.samples += request.count;
  const double seen =
      static_cast<double>(std::count(kept.begin(), kept.end(), 1)) / static_cast<double>(request.count);
  ++steps_;
  if (stage_ == Stage::between) {
    if (std::abs(seen - gamma_) < options_.paper_precision || steps_ >= kPaperSteps) {
      result_.sigma = request.sigma;
      return finish(PersistenceOutcome::crossing);
    }
    (seen > gamma_ ? low_ : high_) = request.sigma;
    return;
  }
  if (stage_ == Stage::low) {
    at_low_ = seen;
    low_known_ = true;
  } else {
    at_high_ = seen;
    high_known_ = true;
  }
  if (low_known_ && high_known_ && steps_ >= kPaperSteps) {
    return finish(at_low_ < gamma_ ? PersistenceOutcome::censored_low : PersistenceOutcome::censored_high);
  }
  // The low end first, then the high end, in turn, as the paper's loop has it.
  if (stage_ == Stage::low) {
    if (!high_known_) {
      stage_ = Stage::high;
      return;
    }
    if (at_high_ > gamma_) {
      high_ *= 2;
      stage_ = Stage::high;
      return;
    }
  }
  if (at_low_ < gamma_) {
    low_ /= 2;
    stage_ = Stage::low;
  } else if (at_high_ > gamma_) {
    high_ *= 2;
    stage_ = Stage::high;
  } else {
    stage_ = Stage::between;
    steps_ = 0;
  }
}

}  // namespace harmonia
