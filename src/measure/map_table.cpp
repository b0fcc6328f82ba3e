#include "harmonia/measure/map_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "gamma_summary.hpp"
#include "harmonia/core/logistic.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Rows = std::vector<const MapRow*>;
using Number = std::function<std::optional<double>(const MapRow&)>;

MapMean mean_of(const Rows& rows, const Number& number, double confidence, Interval range) {
  Moments moments;
  for (const MapRow* row : rows) {
    if (const std::optional<double> value = number(*row)) moments.add(*value);
  }
  MapMean result{.rows = moments.count(), .mean = {}, .interval = {}};
  if (moments.count() == 0) return result;
  result.mean = moments.mean();
  if (moments.count() < 2 || !(moments.deviation() > 0)) return result;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(moments.count() - 1));
  const Interval ends = mean_interval(moments, t);
  result.interval = Interval{std::max(range.low, ends.low), std::min(range.high, ends.high)};
  return result;
}

MapShare share_of(const Rows& rows, const std::function<std::optional<bool>(const MapRow&)>& is,
                  double confidence) {
  MapShare result;
  for (const MapRow* row : rows) {
    const std::optional<bool> hit = is(*row);
    if (!hit) continue;
    ++result.rows;
    result.hits += *hit ? 1 : 0;
  }
  result.interval = wilson_interval(result.hits, result.rows, confidence);
  return result;
}

std::optional<bool> stable(const MapRow& row) {
  return row.search ? std::optional(row.search->stable) : std::nullopt;
}

// Nγ, of a row that has both.
double fall(const MapRow& row, std::size_t steps) {
  return static_cast<double>(steps) * row.gamma.gamma.value();
}

struct Column {
  const char* name;
  Number mean;                    // what its mean over a class is of
  Number rank;                    // what tells rows apart: the same order without the ties of rounding
  MapMean MapGroup::*in_classes;  // null: found otherwise
};

Number of_measured(const std::function<double(const MapRow&)>& value) {
  return [value](const MapRow& row) -> std::optional<double> {
    if (!row.measured()) return std::nullopt;
    return value(row);
  };
}

std::vector<Column> columns_of(std::size_t steps) {
  const auto placed = [](auto value) {
    return Number([value](const MapRow& row) {
      return row.place ? std::optional<double>(value(*row.place)) : std::nullopt;
    });
  };
  return {
      {"probability", placed([](const LogitPlace& p) { return p.probability(); }),
       placed([](const LogitPlace& p) { return p.log_odds; }), &MapGroup::probability},
      {"score", of_measured([=](const MapRow& r) { return r.place->score(fall(r, steps)); }),
       of_measured([=](const MapRow& r) { return r.place->log_score(fall(r, steps)); }), &MapGroup::score},
      {"two_exponential", of_measured([=](const MapRow& r) {
         return logistic(r.place->two_exponential_log_odds(fall(r, steps)));
       }),
       of_measured([=](const MapRow& r) { return r.place->two_exponential_log_odds(fall(r, steps)); }),
       &MapGroup::two_exponential},
      {"softmax",
       of_measured([=](const MapRow& r) { return logistic(r.place->softmax_log_odds(fall(r, steps))); }),
       of_measured([=](const MapRow& r) { return r.place->softmax_log_odds(fall(r, steps)); }),
       &MapGroup::softmax}};
}

MapGroup group_of(const std::string& name, const Rows& rows, const MapRows& all) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  MapGroup group;
  group.name = name;
  group.rows = rows.size();
  const auto mean = [&](const Number& number, Interval range) {
    return mean_of(rows, number, all.confidence, range);
  };
  group.logit = mean([](const MapRow& r) { return r.place ? std::optional(r.place->logit) : std::nullopt; },
                     {-kFar, kFar});
  group.mean_logit = mean(
      [](const MapRow& r) { return r.place ? std::optional(r.place->mean) : std::nullopt; }, {-kFar, kFar});
  group.drift = mean([](const MapRow& r) { return r.search ? std::optional(r.search->drift) : std::nullopt; },
                     {-kFar, kFar});
  for (const Column& column : columns_of(all.steps)) group.*column.in_classes = mean(column.mean, {0, 1});
  MeanGamma gammas;
  for (const MapRow* row : rows) gammas.add(row->gamma);
  group.gamma = gammas.statistics(all.confidence);
  if (group.gamma.rows < 2) group.gamma.low = group.gamma.high = std::nullopt;
  if (group.probability.mean && group.gamma.mean) {
    group.score_of_means =
        *group.probability.mean * std::exp(-static_cast<double>(all.steps) * *group.gamma.mean);
  }
  group.correct = share_of(
      rows, [](const MapRow& r) { return r.correct; }, all.confidence);
  group.stable = share_of(rows, stable, all.confidence);
  return group;
}

// Classes by name; rows that are of none are left out.
std::map<std::string, Rows> classes_of(const MapRows& rows, bool by_label) {
  std::map<std::string, Rows> groups;
  for (const MapRow& row : rows.rows) {
    if (by_label) {
      if (!row.label.empty()) groups[row.label].push_back(&row);
    } else if (row.place) {
      const std::size_t k = row.place->decided_class;
      groups[k < rows.classes.size() ? rows.classes[k] : std::to_string(k)].push_back(&row);
    }
  }
  return groups;
}

std::pair<bool, double> name_order(const std::string& name) {
  const std::optional<double> number = read_number(name);
  return number && !std::isnan(*number) ? std::pair(false, *number) : std::pair(true, 0.0);
}

// Over the rows that have the number and were searched.
void correlate_rows(MapCorrelation& result, const MapRows& rows, const Number& value, const Number& rank) {
  std::vector<double> values, outcomes, up, down;
  for (const MapRow& row : rows.rows) {
    const std::optional<double> number = value(row), place = rank(row);
    if (!row.search || !number || !place) continue;
    values.push_back(*number);
    outcomes.push_back(row.search->stable ? 1 : 0);
    (row.search->stable ? up : down).push_back(*place);
  }
  result.stable = up.size();
  result.unstable = down.size();
  result.by_row = correlation(values, outcomes, rows.confidence);
  if (!up.empty() && !down.empty()) result.auroc = auroc(up, down, rows.confidence);
}

std::optional<Correlation> correlate_classes(
    const MapTable& table, const std::function<std::optional<double>(const MapGroup&)>& value,
    double confidence) {
  std::vector<double> values, shares;
  for (const MapGroup& group : table.groups) {
    const std::optional<double> number = value(group), share = group.stable.share();
    if (!number || !share) continue;
    values.push_back(*number);
    shares.push_back(*share);
  }
  return correlation(values, shares, confidence);
}

void add_correlations(MapTable& table, const MapRows& rows) {
  for (const Column& column : columns_of(rows.steps)) {
    MapCorrelation& entry = table.correlations.emplace_back();
    entry.name = column.name;
    correlate_rows(entry, rows, column.mean, column.rank);
    entry.by_class = correlate_classes(
        table, [&](const MapGroup& g) { return (g.*column.in_classes).mean; }, rows.confidence);
  }
  MapCorrelation& means = table.correlations.emplace_back();
  means.name = "score_of_means";
  means.by_class = correlate_classes(
      table, [](const MapGroup& g) { return g.score_of_means; }, rows.confidence);
  MapCorrelation& gammas = table.correlations.emplace_back();
  gammas.name = "gamma";
  correlate_rows(
      gammas, rows, [](const MapRow& r) { return r.gamma.gamma; },
      [](const MapRow& r) { return r.gamma.gamma ? std::optional(-*r.gamma.gamma) : std::nullopt; });
  gammas.by_class = correlate_classes(
      table, [](const MapGroup& g) { return g.gamma.mean; }, rows.confidence);
  const Number correct = [](const MapRow& r) {
    return r.correct ? std::optional(*r.correct ? 1.0 : 0.0) : std::nullopt;
  };
  MapCorrelation accuracy;
  accuracy.name = "accuracy";
  correlate_rows(accuracy, rows, correct, correct);
  accuracy.by_class = correlate_classes(
      table, [](const MapGroup& g) { return g.correct.share(); }, rows.confidence);
  if (accuracy.stable + accuracy.unstable > 0) table.correlations.push_back(std::move(accuracy));
}

}  // namespace

MapTable map_table(const MapRows& rows) {
  MapTable table;
  table.by_label = std::ranges::any_of(rows.rows, [](const MapRow& row) { return !row.label.empty(); });
  for (const auto& [name, members] : classes_of(rows, table.by_label))
    table.groups.push_back(group_of(name, members, rows));
  std::stable_sort(table.groups.begin(), table.groups.end(), [](const MapGroup& a, const MapGroup& b) {
    return name_order(a.name) < name_order(b.name);
  });
  Rows everything;
  std::vector<double> falls, drifts;
  for (const MapRow& row : rows.rows) {
    everything.push_back(&row);
    if (!row.search || !row.measured()) continue;
    falls.push_back(fall(row, rows.steps));
    drifts.push_back(std::abs(row.search->drift));
  }
  table.all = group_of("all", everything, rows);
  table.drift_with_gamma = correlation(falls, drifts, rows.confidence);
  add_correlations(table, rows);
  return table;
}

}  // namespace harmonia
