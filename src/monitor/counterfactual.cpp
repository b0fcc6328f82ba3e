#include "harmonia/monitor/counterfactual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "feature_space.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Row = std::vector<double>;

constexpr double kNormalShare = 0.95;
constexpr std::size_t kGoals = 5;     // rows of the baseline that are gone towards, found …
constexpr std::size_t kNearest = 8;   // … among so many of the nearest …
constexpr std::size_t kFurther = 24;  // … and others
constexpr std::size_t kSections = 8;  // of a way, in every round …
constexpr std::size_t kRounds = 3;    // … so that it is known to 1/512
constexpr std::size_t kSweeps = 8;    // through the features that change, at most
constexpr std::size_t kRefined = 2;   // ways that are looked at feature by feature

struct Measured {
  Row row;
  double gamma = 0;
};

// From x straight to a row of normal gamma, and the first place on it that is known to be normal.
struct Way {
  Row goal;
  double gamma = 0;  // there
  Measured found;
  double low = 0, high = 1;  // between what shares of the way normal begins
};

class Search {
 public:
  Search(const Model& model, const Baseline& baseline, std::span<const double> x, Run& run,
         std::uint64_t evaluations)
      : model_(model),
        baseline_(baseline),
        space_(baseline),
        start_(x.begin(), x.end()),
        run_(run),
        normal_(normal_gamma(baseline)),
        evaluations_(evaluations) {
    measured_ = baseline.options;
    measured_.explain = 0;
    cost_ = gamma_cost(measured_, start_.size());
  }

  std::optional<Counterfactual> look();
  /// Why there is none.
  const std::string& reason() const { return reason_; }

 private:
  std::vector<Way> ways();
  std::vector<std::optional<double>> gammas(const std::vector<Row>& rows, std::size_t spared = 1);
  Row on_the_way(const Row& goal, double share) const;
  void shorten(std::vector<Way>& ways);
  Measured sparest(Measured found);
  std::optional<Measured> without_small(const Measured& found);
  std::optional<Measured> without_needless(const Measured& found);
  std::optional<Measured> longest_prefix(const Measured& found, const std::vector<std::size_t>& order,
                                         std::size_t most, std::size_t tries);
  std::optional<Measured> refined(const Way& way);
  Counterfactual told(const Measured& best) const;
  std::string why_none() const;
  std::vector<std::size_t> changed(const Row& row) const;
  std::nullopt_t none(std::string reason) {
    reason_ = std::move(reason);
    return std::nullopt;
  }

  const Model& model_;
  const Baseline& baseline_;
  FeatureSpace space_;
  Row start_;
  Run& run_;
  GammaOptions measured_;
  double normal_;
  std::uint64_t evaluations_, cost_ = 0, spent_ = 0;
  std::size_t tried_ = 0;  // goals
  std::string reason_;
};

// gamma of every row, in one call; none of what has none, or is beyond the evaluations that are left, those
// of so many rows spared.
std::vector<std::optional<double>> Search::gammas(const std::vector<Row>& rows, std::size_t spared) {
  std::vector<std::optional<double>> values(rows.size());
  const std::uint64_t left = (evaluations_ - std::min(evaluations_, spent_)) / cost_;
  const std::size_t count =
      std::min<std::uint64_t>(rows.size(), left - std::min<std::uint64_t>(left, spared));
  if (count == 0) return values;
  Matrix<double> x(count, start_.size());
  for (std::size_t i = 0; i < count; ++i) std::copy(rows[i].begin(), rows[i].end(), x.row(i));
  for (const GammaRow& row : gamma(model_, x.view(), measured_, run_).rows) {
    values[row.row] = row.outcome == Outcome::budget ? std::nullopt : row.gamma;
    spent_ += row.evaluations();
  }
  return values;
}

// The nearest rows that have normal gamma even with those features that must not change as they are in x:
// among the very nearest, and then among some from near to far.
std::vector<Way> Search::ways() {
  std::vector<std::pair<double, const BaselineRow*>> near;
  for (const BaselineRow& row : baseline_.rows) {
    const std::optional<double> distance = space_.distance(start_, row.values);
    if (row.gamma <= normal_ && distance) near.emplace_back(*distance, &row);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Way> ways;
  const auto look_at = [&](const std::vector<Row>& ends) {
    const auto values = gammas(ends);
    for (std::size_t k = 0; k < ends.size() && ways.size() < kGoals; ++k) {
      if (values[k] && *values[k] <= normal_) ways.push_back({ends[k], *values[k], {ends[k], *values[k]}});
    }
    tried_ += ends.size();
  };
  const std::size_t nearest = std::min(near.size(), kNearest), further = near.size() - nearest;
  std::vector<Row> ends;
  for (std::size_t i = 0; i < nearest; ++i) ends.push_back(on_the_way(near[i].second->values, 1));
  look_at(ends);
  if (ways.size() == kGoals) return ways;
  ends.clear();
  for (std::size_t k = 0; k < std::min(further, kFurther); ++k) {
    const std::size_t place = nearest + k * further / std::min(further, kFurther);
    ends.push_back(on_the_way(near[place].second->values, 1));
  }
  look_at(ends);
  return ways;
}

// What x lacks comes from the goal at once, and what the goal lacks stays.
Row Search::on_the_way(const Row& goal, double share) const {
  Row row = start_;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (!space_.free(j) || std::isnan(goal[j])) continue;
    row[j] =
        std::isnan(row[j]) || share == 1 ? goal[j] : space_.rounded(j, row[j] + share * (goal[j] - row[j]));
  }
  return row;
}

// Finds how far each way has to be gone, all of them in the same calls.
void Search::shorten(std::vector<Way>& ways) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<Row> rows;
    std::vector<double> shares;
    for (const Way& way : ways) {
      for (std::size_t k = 1; k < kSections; ++k) {
        shares.push_back(
            std::lerp(way.low, way.high, static_cast<double>(k) / static_cast<double>(kSections)));
        rows.push_back(on_the_way(way.goal, shares.back()));
      }
    }
    const auto values = gammas(rows);
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const std::size_t first = w * (kSections - 1), end = first + kSections - 1;
      std::size_t place = first;
      while (place < end && !(values[place] && *values[place] <= normal_)) ++place;
      if (place > first) ways[w].low = shares[place - 1];
      if (place == end) continue;
      ways[w].high = shares[place];
      ways[w].found = {rows[place], *values[place]};
    }
  }
}

std::vector<std::size_t> Search::changed(const Row& row) const {
  std::vector<std::size_t> features;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] != start_[j] && !(std::isnan(row[j]) && std::isnan(start_[j]))) features.push_back(j);
  }
  return features;
}

// Takes back the first features of `order`, as many as gamma stays normal without, at most `most`; so many
// numbers of them are tried.
std::optional<Measured> Search::longest_prefix(const Measured& found, const std::vector<std::size_t>& order,
                                               std::size_t most, std::size_t tries) {
  tries = std::min(tries, most);
  std::vector<Row> rows;
  for (std::size_t k = tries; k > 0; --k) {
    rows.push_back(found.row);
    for (std::size_t i = 0; i < k * most / tries; ++i) rows.back()[order[i]] = start_[order[i]];
  }
  const auto values = gammas(rows);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (values[k] && *values[k] <= normal_) return Measured{rows[k], *values[k]};
  }
  return std::nullopt;
}

// Leaves out the smallest changes together, which is cheap for many features.
std::optional<Measured> Search::without_small(const Measured& found) {
  std::vector<std::size_t> order = changed(found.row);
  if (order.size() < 2) return std::nullopt;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return space_.step(a, start_[a], found.row[a]) < space_.step(b, start_[b], found.row[b]);
  });
  return longest_prefix(found, order, order.size() - 1, kSections);
}

// Takes features back one at a time, then those together that gamma needs least.
std::optional<Measured> Search::without_needless(const Measured& found) {
  const std::vector<std::size_t> features = changed(found.row);
  if (features.size() < 2) return std::nullopt;
  std::vector<Row> rows;
  for (const std::size_t j : features) {
    rows.push_back(found.row);
    rows.back()[j] = start_[j];
  }
  const auto values = gammas(rows);
  std::vector<std::pair<double, std::size_t>> needless;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (values[i] && *values[i] <= normal_) needless.emplace_back(*values[i], i);
  }
  if (needless.empty()) return std::nullopt;
  std::sort(needless.begin(), needless.end());
  std::vector<std::size_t> order;
  order.reserve(needless.size());
  for (const auto& [value, i] : needless) order.push_back(features[i]);
  // One of all has to change.
  const std::size_t most = order.size() < features.size() ? order.size() : order.size() - 1;
  const Measured one{rows[needless.front().second], needless.front().first};
  return longest_prefix(found, order, most, most).value_or(one);
}

Measured Search::sparest(Measured found) {
  if (const auto fewer = without_small(found)) found = *fewer;
  for (std::size_t sweep = 0; sweep < kSweeps; ++sweep) {
    const auto fewer = without_needless(found);
    if (!fewer) break;
    found = *fewer;
  }
  return found;
}

// First leaves out what is not needed at the goal, where there is room for it, then goes no further than is
// needed. What was picked from many is measured again by itself.
std::optional<Measured> Search::refined(const Way& way) {
  const Measured spare = sparest({way.goal, way.gamma});
  std::vector<Way> fewer{{spare.row, spare.gamma, spare}};
  shorten(fewer);
  Measured result = fewer.front().found;
  const auto again = gammas({result.row}, 0).front();
  if (!again || *again > normal_) return std::nullopt;
  result.gamma = *again;
  return result;
}

std::string Search::why_none() const {
  if (spent_ + 2 * cost_ > evaluations_)
    return fmt::format("none was found within {} evaluations", evaluations_);
  std::size_t fixed = 0;
  for (std::size_t j = 0; j < start_.size(); ++j) fixed += space_.free(j) ? 0 : 1;
  return fmt::format("gamma does not become normal on the way to any of {}{}", counted(tried_, "row"),
                     fixed == 0 ? "" : fmt::format("; {} must not change", counted(fixed, "feature")));
}

Counterfactual Search::told(const Measured& best) const {
  Counterfactual back;
  back.features = changed(best.row);
  for (const std::size_t j : back.features) back.values.push_back(best.row[j]);
  back.gamma = best.gamma;
  back.distance = space_.length(start_, best.row);
  return back;
}

std::optional<Counterfactual> Search::look() {
  bool free = false;
  for (std::size_t j = 0; j < start_.size(); ++j) free |= space_.free(j);
  if (!free) return none("no feature may change: all of them are fixed");
  const auto now = gammas({start_}).front();
  if (now && *now <= normal_) return none("gamma is normal as it is");
  std::vector<Way> ways = this->ways();
  if (tried_ == 0) return none("the baseline keeps no row of normal gamma to go towards");
  shorten(ways);
  const auto length = [&](const Measured& found) { return space_.length(start_, found.row); };
  std::stable_sort(ways.begin(), ways.end(),
                   [&](const Way& a, const Way& b) { return length(a.found) < length(b.found); });
  std::optional<Measured> best;
  for (std::size_t w = 0, refinements = 0; w < ways.size() && refinements < kRefined; ++w) {
    const std::optional<Measured> found = refined(ways[w]);
    if (!found) continue;
    ++refinements;
    if (!best || length(*found) < length(*best)) best = found;
  }
  if (!best) return none(why_none());
  return told(*best);
}

}  // namespace

std::optional<BaselineRow> nearest_row(const Baseline& baseline, std::span<const double> x) {
  const FeatureSpace space(baseline);
  const BaselineRow* nearest = nullptr;
  double least = 0;
  for (const BaselineRow& row : baseline.rows) {
    const std::optional<double> distance = space.distance(x, row.values);
    if (!distance || (nearest != nullptr && *distance >= least)) continue;
    nearest = &row;
    least = *distance;
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

double normal_gamma(const Baseline& baseline) {
  return bin_quantile(sum(baseline.counts.gamma), kNormalShare);
}

std::optional<Counterfactual> find_counterfactual(const Model& model, const Baseline& baseline,
                                                  std::span<const double> x, Run& run,
                                                  std::uint64_t evaluations, std::string* reason) {
  assert(x.size() == baseline.features.size());
  Search search(model, baseline, x, run, evaluations);
  std::optional<Counterfactual> back = search.look();
  if (!back && reason != nullptr) *reason = search.reason();
  return back;
}

}  // namespace harmonia
