#include "gamma_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "fingerprint.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

// The outcome that says least of a row's columns.
Outcome least_trusted(const std::vector<GammaRow>& columns) {
  static constexpr std::array kOrder{Outcome::exact,  Outcome::sampled,   Outcome::floor,  Outcome::budget,
                                     Outcome::sparse, Outcome::undefined, Outcome::unmoved};
  const auto rank = [](const GammaRow& row) { return std::find(kOrder.begin(), kOrder.end(), row.outcome); };
  return *rank(*std::max_element(columns.begin(), columns.end(),
                                 [&](const GammaRow& a, const GammaRow& b) { return rank(a) < rank(b); }));
}

// What the columns of one row come to together. Their errors may go the same way, so they are not averaged
// out.
GammaRow average_of(const std::vector<GammaRow>& columns) {
  const auto count = static_cast<double>(columns.size());
  double gamma = 0, split = 0, error = 0;
  for (const GammaRow& column : columns) {
    gamma += column.gamma.value_or(0) / count;
    split += column.split.value_or(0) / count;
    error += column.standard_error.value_or(0) / count;
  }
  GammaRow average;
  average.outcome = least_trusted(columns);
  average.gamma = gamma;
  average.split = split;
  average.standard_error = error;
  return average;
}

// None of a number that squares too large for a double came to.
std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

constexpr std::size_t kMostSegments = 1000;

// Numbers by their size, then texts as they are.
std::pair<bool, double> segment_order(const std::string& value) {
  const auto number = read_number(value);
  return number && !std::isnan(*number) ? std::pair(false, *number) : std::pair(true, 0.0);
}

}  // namespace

void MeanGamma::add(const GammaRow& row) {
  if (!row.gamma) return;
  plug_in_.add(*row.gamma);
  sizes_ += *row.gamma;
  squares_ += *row.gamma * *row.gamma;
  sparse_ |= row.sparse();
  split_.add(row.split.value_or(*row.gamma));
  if (row.value) value_.add(*row.value);
  const double error = row.standard_error.value_or(0);
  excess_.add(*row.gamma * *row.gamma - error * error);
  only_low_ = row.low;
  only_high_ = row.high;
}

// The plug-in estimate is biased upwards, the split estimate downwards, and neither bias shrinks with the
// number of rows: the interval reaches from the lower end of the one to the upper end of the other.
GammaStatistics MeanGamma::statistics(double confidence) const {
  GammaStatistics result;
  result.rows = plug_in_.count();
  if (result.rows == 0) return result;
  result.mean = plug_in_.mean();
  if (const auto square = finite(excess_.value())) {
    result.rms = std::sqrt(std::max(0.0, *square / static_cast<double>(result.rows)));
  }
  if (value_.deviation() > 0) result.relative = plug_in_.mean() / value_.deviation();
  if (result.rows == 1) {
    result.low = only_low_;
    result.high = only_high_;
    return result;
  }
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(result.rows - 1));
  result.standard_error = finite(plug_in_.standard_error());
  if (const auto low = finite(mean_interval(split_, t).low)) result.low = std::max(0.0, *low);
  // Where single rows saw too little, rows that saw something must be enough to speak for the others.
  const double carriers = squares_ > 0 ? sizes_ * sizes_ / squares_ : 0;
  if (!sparse_ || carriers >= kTrustedValues) result.high = finite(mean_interval(plug_in_, t).high);
  return result;
}

GammaSummariser::GammaSummariser(const GammaOptions& options, const ModelInfo& model)
    : options_(options), inputs_(model.inputs) {
  if (options.output.kind == OutputChoice::Kind::all) columns_.resize(model.outputs);
  counts_.outcomes.resize(static_cast<std::size_t>(Outcome::undefined) + 1);
}

void GammaSummariser::add(const std::vector<GammaRow>& entries) {
  const GammaRow& first = entries.front();
  const bool one = columns_.empty() || !first.gamma;
  const std::optional<GammaRow> average = one ? std::nullopt : std::optional(average_of(entries));
  const GammaRow& row = one ? first : *average;
  all_.add(row);
  if (!one) {
    for (std::size_t k = 0; k < entries.size(); ++k) columns_[k].add(entries[k]);
  }
  if (!first.segment.empty()) add_to_segment(first.segment, row);
  for (const std::uint64_t part : {static_cast<std::uint64_t>(first.row), first.fingerprint}) {
    counts_.fingerprint = mix_fingerprint(counts_.fingerprint, part);
  }
  for (const GammaRow& entry : entries) {
    for (const Contribution& part : entry.explain) weights_[part.feature] += std::abs(part.value);
  }
  ++counts_.outcomes[static_cast<std::size_t>(least_trusted(entries))];
  counts_.rows_shortened += first.shortened > 0 ? 1 : 0;
  counts_.rows_partly_moved += first.moved < inputs_ ? 1 : 0;
  counts_.evaluations += first.evaluations();
}

void GammaSummariser::add_to_segment(const std::string& segment, const GammaRow& row) {
  segments_[segment].add(row);
  if (segments_.size() <= kMostSegments) return;
  throw Error(ErrorCode::input, fmt::format("the rows have more than {} segments; expected a column of few "
                                            "different values, such as a country or a class",
                                            kMostSegments));
}

GammaSummary GammaSummariser::summary() const {
  GammaSummary summary = counts_;
  summary.gamma = all_.statistics(options_.confidence);
  if (!columns_.empty()) summary.gamma.rms.reset();  // the average's own error is not known
  for (const MeanGamma& column : columns_) summary.columns.push_back(column.statistics(options_.confidence));
  for (const auto& [value, mean] : segments_) {
    summary.segments.push_back({value, mean.statistics(options_.confidence)});
    GammaStatistics& segment = summary.segments.back().gamma;
    if (segment.rows < 2) segment.low = segment.high = std::nullopt;  // one row says nothing of others
  }
  std::stable_sort(summary.segments.begin(), summary.segments.end(),
                   [](const GammaSegment& a, const GammaSegment& b) {
                     return segment_order(a.value) < segment_order(b.value);
                   });
  for (const auto& [feature, weight] : weights_) {
    summary.explain.push_back({feature, weight / static_cast<double>(summary.gamma.rows)});
  }
  std::stable_sort(summary.explain.begin(), summary.explain.end(),
                   [](const Contribution& a, const Contribution& b) { return a.value > b.value; });
  if (summary.explain.size() > options_.explain) summary.explain.resize(options_.explain);
  return summary;
}

}  // namespace harmonia
