#include "harmonia/text/text_summary.hpp"

#include <cmath>
#include <limits>

namespace harmonia {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void add_settling(const TextRow& row, std::size_t wanted, std::vector<double>& sums, std::size_t& count) {
  if (row.settling.size() != wanted) return;
  sums.resize(wanted, 0.0);
  for (std::size_t i = 0; i < wanted; ++i) sums[i] += row.settling[i];
  ++count;
}

TextFamilySummary summarise(const TextResult& result, PromptFamily family, const TextOptions& options) {
  TextFamilySummary summary;
  summary.family = family;
  std::vector<double> resultants, isotropies;
  std::size_t settled = 0;
  for (const TextRow& row : result.rows) {
    if (row.family != family) continue;
    if (!row.gamma) {
      ++summary.marked;
      continue;
    }
    resultants.push_back(row.gamma->resultant);
    if (row.isotropy) isotropies.push_back(*row.isotropy);
    summary.variants += row.gamma->variants;
    summary.changed += row.gamma->changed;
    ++summary.bands[static_cast<std::size_t>(band_of(*row.gamma))];
    add_settling(row, options.variants - 1, summary.settling, settled);
  }
  for (double& value : summary.settling) value /= static_cast<double>(settled);
  summary.resultant = prompt_mean(resultants, options.confidence);
  summary.isotropy = prompt_mean(isotropies, options.confidence);
  return summary;
}

}  // namespace

PromptMean prompt_mean(std::span<const double> values, double confidence) {
  Moments moments;
  for (const double value : values) moments.add(value);
  PromptMean result;
  result.prompts = moments.count();
  if (result.prompts > 0) result.mean = moments.mean();
  if (result.prompts > 1) {
    const double t = student_t_quantile((1 + confidence) / 2, static_cast<double>(result.prompts - 1));
    result.interval = mean_interval(moments, t);
  }
  return result;
}

std::vector<TextFamilySummary> summarise_text(const TextResult& result, const TextOptions& options) {
  std::vector<TextFamilySummary> summaries;
  for (const PromptFamily family : options.families) summaries.push_back(summarise(result, family, options));
  return summaries;
}

TextRanking rank_text(std::span<const TextResult> results, PromptFamily family, AngleConvention angles,
                      double confidence) {
  if (angles == AngleConvention::sin) angles = AngleConvention::angle;
  std::vector<GammaColumns> columns(results.size());
  std::vector<double> means;
  for (std::size_t m = 0; m < results.size(); ++m) {
    Moments moments;
    for (const TextRow& row : results[m].rows) {
      if (row.family != family) continue;
      const double gamma = row.gamma ? in_convention(row.gamma->gamma, angles) : kNone;
      columns[m].gamma.push_back(gamma);
      columns[m].split.push_back(gamma);
      if (row.gamma) moments.add(gamma);
    }
    means.push_back(moments.count() > 0 ? moments.mean() : kNone);
  }
  TextRanking ranking;
  ranking.family = family;
  ranking.convention = angles;
  ranking.pairs = compare_columns(columns, confidence);
  ranking.groups = rank_models(means, ranking.pairs);
  return ranking;
}

}  // namespace harmonia
