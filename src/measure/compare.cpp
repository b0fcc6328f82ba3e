#include "harmonia/measure/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "carriers.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "share_run.hpp"

namespace harmonia {
namespace {

constexpr double kRounding = 64;  // units in the last place of the value that a gamma of nothing may come to
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void check(std::span<const Model* const> models, const GammaOptions& options) {
  if (models.size() < 2) {
    throw Error(ErrorCode::usage, fmt::format("{} to compare; expected at least 2 models", models.size()));
  }
  for (const Model* model : models) {
    const ModelInfo &first = models.front()->info(), &other = model->info();
    if (other.inputs == first.inputs) continue;
    throw Error(ErrorCode::input, fmt::format("model {} expects {} columns, model {} expects {}; models are "
                                              "compared on the same rows",
                                              first.name, first.inputs, other.name, other.inputs));
  }
  if (options.output.kind == OutputChoice::Kind::all) {
    throw Error(ErrorCode::usage,
                "output all has a gamma a column; compare needs one a row: label, predicted, column:K, norm "
                "or angle");
  }
}

// Plug-in and split estimate of a row; 0 if they are rounding.
std::pair<double, double> beyond_rounding(const GammaColumns& columns, std::size_t row) {
  if (columns.rounding > 0 && columns.gamma[row] <= columns.rounding * std::abs(columns.value[row])) {
    return {0, 0};
  }
  return {columns.gamma[row], columns.split[row]};
}

Verdict verdict_of(const PairedDifference& gamma) {
  if (gamma.high && *gamma.high < 0) return Verdict::a_lower;
  if (gamma.low && *gamma.low > 0) return Verdict::b_lower;
  return Verdict::indistinguishable;
}

// Keeps a text that is there at its row's place; the list stays empty while there is none.
void carry(const std::string& text, std::size_t place, std::vector<std::string>& texts) {
  if (text.empty()) return;
  texts.resize(place + 1);
  texts.back() = text;
}

Matrix<double> read_rows(RowSource& data, std::size_t rows) {
  Matrix<double> x(rows, data.info().inputs);
  RowBlock block;
  double* out = x.view().data;
  while (data.read(block, rows_per_block(data.info().inputs))) {
    const std::size_t size = block.values.rows() * block.values.columns();
    if (out + size > x.view().data + rows * x.columns()) {
      throw Error(ErrorCode::input, fmt::format("{} grew while it was read", data.info().source));
    }
    out = std::copy_n(block.values.view().data, size, out);
  }
  data.rewind();
  return x;
}

}  // namespace

void GammaColumns::add(const GammaRow& row) {
  gamma.push_back(row.gamma.value_or(kNone));
  split.push_back(row.split.value_or(gamma.back()));
  value.push_back(row.value.value_or(kNone));
  decided_class.push_back(row.decided_class);
  sparse |= row.sparse();
}

PairedDifference paired_difference(const GammaColumns& a, const GammaColumns& b, double confidence) {
  Moments plug_in, lower, upper;
  Carriers of_a, of_b, of_lower, of_upper;
  for (std::size_t i = 0; i < std::min(a.gamma.size(), b.gamma.size()); ++i) {
    if (std::isnan(a.gamma[i]) || std::isnan(b.gamma[i])) continue;
    const auto [gamma_a, split_a] = beyond_rounding(a, i);
    const auto [gamma_b, split_b] = beyond_rounding(b, i);
    plug_in.add(gamma_a - gamma_b);
    lower.add(split_a - gamma_b);
    upper.add(gamma_a - split_b);
    of_a.add(gamma_a);
    of_b.add(gamma_b);
    of_lower.add(split_a - gamma_b);
    of_upper.add(gamma_a - split_b);
  }
  PairedDifference result;
  result.rows = plug_in.count();
  if (result.rows == 0) return result;
  result.difference = plug_in.mean();
  if (result.rows < 2) return result;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(result.rows - 1));
  // A row that saw too little has no upper end; others must be enough to speak for it.
  if ((!b.sparse || of_b.enough()) && (of_lower.enough() || of_lower.none())) {
    result.low = mean_interval(lower, t).low;
  }
  if ((!a.sparse || of_a.enough()) && (of_upper.enough() || of_upper.none())) {
    result.high = mean_interval(upper, t).high;
  }
  return result;
}

std::vector<ComparedPair> compare_columns(std::span<const GammaColumns> columns, double confidence) {
  const auto count = static_cast<double>(columns.size() * (columns.size() - 1)) / 2;
  std::vector<ComparedPair> pairs;
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) {
      ComparedPair pair{a, b, {}, {}};
      pair.gamma = paired_difference(columns[a], columns[b], 1 - (1 - confidence) / count);
      pair.verdict = verdict_of(pair.gamma);
      pairs.push_back(pair);
    }
  }
  return pairs;
}

std::string verdict_name(Verdict verdict) {
  static constexpr std::array names{"a_lower", "b_lower", "indistinguishable"};
  return names[static_cast<std::size_t>(verdict)];
}

std::vector<std::vector<std::size_t>> rank_models(std::span<const double> means,
                                                  std::span<const ComparedPair> pairs) {
  const std::size_t count = means.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t m) {
    return std::isnan(means[m]) ? std::numeric_limits<double>::infinity() : means[m];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return place(i) < place(j); });
  std::vector<std::vector<char>> lower(count, std::vector<char>(count, 0));
  for (const ComparedPair& pair : pairs) {
    lower[pair.a][pair.b] = pair.verdict == Verdict::a_lower ? 1 : 0;
    lower[pair.b][pair.a] = pair.verdict == Verdict::b_lower ? 1 : 0;
  }
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < count; ++i) {
    bool apart = true;  // every model before place i is lower than every model from there on
    for (std::size_t before = 0; before < i; ++before) {
      for (std::size_t after = i; after < count; ++after) apart &= lower[order[before]][order[after]] != 0;
    }
    if (apart) groups.emplace_back();
    groups.back().push_back(order[i]);
  }
  return groups;
}

CompareResult compare(std::span<const Model* const> models, RowSource& data, const GammaOptions& options,
                      Run& run) {
  check(models, options);
  CompareResult result;
  std::vector<std::uint64_t> fingerprints;
  std::vector<double> means;
  for (std::size_t m = 0; m < models.size(); ++m) {
    GammaColumns columns;
    const bool single = models[m]->info().scalar == Scalar::float32;
    columns.rounding =
        kRounding * (single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon());
    const auto sink = [&](const GammaRow& row) {
      const std::size_t place = columns.gamma.size();
      columns.add(row);
      if (m == 0) {
        result.rows.push_back(row.row);
        fingerprints.push_back(row.fingerprint);
        carry(row.id, place, result.ids);
        carry(row.label, place, result.labels);
      } else if (place >= fingerprints.size() || fingerprints[place] != row.fingerprint) {
        throw Error(ErrorCode::input, fmt::format("{} changed while it was read: row {} is not what it was",
                                                  data.info().source, row.row));
      }
    };
    data.rewind();
    SharedRun part(run, m, models.size());
    result.summaries.push_back(gamma(*models[m], data, options, part.run(), sink));
    if (columns.gamma.size() != result.rows.size()) {
      throw Error(ErrorCode::input,
                  fmt::format("{} changed while it was read: it had {}, and then {}", data.info().source,
                              counted(result.rows.size(), "row"), columns.gamma.size()));
    }
    result.evaluations += result.summaries.back().evaluations;
    means.push_back(result.summaries.back().gamma.mean.value_or(kNone));
    result.columns.push_back(std::move(columns));
  }
  if (!result.ids.empty()) result.ids.resize(result.rows.size());
  if (!result.labels.empty()) result.labels.resize(result.rows.size());
  data.rewind();
  if (data.info().inputs <= kDrawnFeatures) result.x = read_rows(data, result.rows.size());
  result.pairs = compare_columns(result.columns, options.confidence);
  result.ranking = rank_models(means, result.pairs);
  return result;
}

}  // namespace harmonia
