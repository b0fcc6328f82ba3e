#include "harmonia/measure/boundary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include "boundary_normal.hpp"
#include "boundary_summary.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/spread.hpp"
#include "row_pairs.hpp"
#include "segment_crossings.hpp"

namespace harmonia {
namespace {

// Of the data's spread. In float32 a smaller step drowns in rounding; a larger one meets the kinks of a
// network.
constexpr double kStepShare32 = 0.01, kStepShare64 = 0.001;
constexpr std::size_t kMostPairs = 1024, kPointsTogether = std::size_t{1} << 20;
constexpr double kDegrees = 180 / std::numbers::pi;
constexpr std::array<std::pair<std::string_view, NormalMethod>, 4> kMethods{
    {{"auto", NormalMethod::automatic},
     {"margin", NormalMethod::margin},
     {"label", NormalMethod::label},
     {"none", NormalMethod::none}}};

void check(const BoundaryOptions& options, const ModelInfo& model, std::size_t inputs) {
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  if (options.steps < 1) throw Error(ErrorCode::usage, "steps is 0; expected 1 or more");
  if (!(options.step >= 0) || !std::isfinite(options.step)) {
    throw Error(ErrorCode::usage, fmt::format("step is {}; expected a number above 0", options.step));
  }
  check_confidence(options.confidence);
  if (!options.schema.empty() && options.schema.size() != inputs) {
    throw Error(ErrorCode::usage, fmt::format("the schema has {} features; the data has {} columns",
                                              options.schema.size(), inputs));
  }
  if (options.normal == NormalMethod::margin && model.outputs == 1 && !model.binary) {
    throw Error(
        ErrorCode::usage,
        fmt::format("normal margin needs an output a class, or a probability (--binary); model {} has "
                    "one output, the class: take label",
                    model.name));
  }
}

// The root mean square over features of their deviations, all rows of A and B together.
double spread_of(RowSource& a, RowSource& b, const Schema& schema) {
  const std::vector<ColumnSpread> in_a = column_spreads(a, kAllRows), in_b = column_spreads(b, kAllRows);
  double sum = 0;
  std::size_t features = 0;
  for (std::size_t j = 0; j < in_a.size(); ++j) {
    const double scale = schema.empty() ? 1 : schema[j].scale;
    const auto rows_a = static_cast<double>(in_a[j].count), rows_b = static_cast<double>(in_b[j].count),
               rows = rows_a + rows_b;
    if ((!schema.empty() && schema[j].fixed) || rows < 2) continue;
    const double apart = in_a[j].mean - in_b[j].mean;
    const double squares = std::max(0.0, rows_a - 1) * in_a[j].variance +
                           std::max(0.0, rows_b - 1) * in_b[j].variance +
                           apart * apart * rows_a * rows_b / rows;
    sum += squares / (rows - 1) / (scale * scale);
    ++features;
  }
  return features > 0 ? std::sqrt(sum / static_cast<double>(features)) : 0;
}

class Driver {
 public:
  Driver(const Model& model, RowSource& a, RowSource& b, const BoundaryOptions& options, Run& run,
         const std::function<void(const BoundaryRow&)>& sink)
      : model_(model.info()),
        a_(a),
        b_(b),
        options_(options),
        run_(run),
        sink_(sink),
        pairs_(a, b),
        asker_(model, options.batch, run) {}

  BoundarySummary run() {
    const std::size_t inputs = a_.info().inputs;
    const std::size_t block = std::clamp<std::size_t>(
        std::min(kPointsTogether / (options_.steps + 1), rows_per_block(inputs) / 4), 1, kMostPairs);
    while (pairs_.read(block)) {
      for (std::size_t i = 0; i < pairs_.size(); ++i) check_pair(pairs_.place_a(i), pairs_.place_b(i));
      all_ += pairs_.size();
    }
    const std::uint64_t before = run_.ledger.spent();
    if (options_.normal != NormalMethod::none && options_.step == 0)
      options_.step = (model_.scalar == Scalar::float32 ? kStepShare32 : kStepShare64) *
                      spread_of(a_, b_, options_.schema);
    pairs_.rewind();
    while (pairs_.read(block)) {
      measure();
      done_ += pairs_.size();
      tell();
    }
    BoundarySummary summary = summariser_.summary(options_.confidence);
    summary.step = options_.step;
    if (left_out_ > 0) {
      summary.warnings.push_back(fmt::format(
          "{} left out, on segments that have 1,000 or more: a larger steps tells them apart",
          left_out_ == 1 ? "one crossing or more was" : fmt::format("{} crossings or more were", left_out_)));
    }
    summary.evaluations = run_.ledger.spent() - before;
    return summary;
  }

 private:
  void tell() const {
    if (run_.progress) run_.progress({done_, all_, run_.ledger.spent()});
  }

  bool fixed(std::size_t j) const { return !options_.schema.empty() && options_.schema[j].fixed; }
  double scale(std::size_t j) const { return options_.schema.empty() ? 1 : options_.schema[j].scale; }

  void check_pair(std::size_t i, std::size_t k) const {
    const PairSide &a = pairs_.a(), &b = pairs_.b();
    for (std::size_t j = 0; j < a.values.columns(); ++j) {
      const double x = a.values.row(i)[j], y = b.values.row(k)[j];
      check_value(x, a_, a.numbers[i], j);
      check_value(y, b_, b.numbers[k], j);
      if (std::isnan(x) != std::isnan(y)) {
        throw Error(
            ErrorCode::input,
            fmt::format("feature {} is missing (NaN) in row {} of {} and not in row {} of {}; a "
                        "missing value does not move, so expected it in both or in neither",
                        feature_name(a_.info(), j), (std::isnan(x) ? a : b).numbers[std::isnan(x) ? i : k],
                        (std::isnan(x) ? a_ : b_).info().source,
                        (std::isnan(x) ? b : a).numbers[std::isnan(x) ? k : i],
                        (std::isnan(x) ? b_ : a_).info().source));
      }
      if (std::isinf((y - x) / scale(j))) {
        throw Error(
            ErrorCode::input,
            fmt::format("feature {} is {} in row {} of {} and {} in row {} of {}: too far apart for a "
                        "segment between{}",
                        feature_name(a_.info(), j), x, a.numbers[i], a_.info().source, y, b.numbers[k],
                        b_.info().source,
                        std::isinf(y - x) ? "" : fmt::format(" in units of its scale, {}", scale(j))));
      }
      if (fixed(j) && x != y && !std::isnan(x)) {
        throw Error(
            ErrorCode::input,
            fmt::format("feature {} may not be moved, and is {} in row {} of {} and {} in row {} of {}; "
                        "expected the same",
                        feature_name(a_.info(), j), x, a.numbers[i], a_.info().source, y, b.numbers[k],
                        b_.info().source));
      }
    }
  }

  void check_value(double value, const RowSource& source, std::size_t row, std::size_t column) const {
    if (std::isinf(value)) {
      throw Error(ErrorCode::input, fmt::format("{}: row {}, column {} is {}; expected a finite number",
                                                source.info().source, row, column, value));
    }
    if (std::isnan(value) && !model_.takes_missing) {
      throw Error(ErrorCode::input,
                  fmt::format("{}: row {}, column {} is missing (NaN); model {} takes no missing values",
                              source.info().source, row, column, model_.name));
    }
  }

  Segment segment(std::size_t i) const {
    const std::size_t inputs = pairs_.a().values.columns();
    return {{pairs_.a().values.row(pairs_.place_a(i)), inputs},
            {pairs_.b().values.row(pairs_.place_b(i)), inputs}};
  }

  // In units of the scales, where what is too short for a double has no direction.
  bool same(const Segment& segment) const {
    for (std::size_t j = 0; j < segment.a.size(); ++j) {
      if (!std::isnan(segment.a[j]) && (segment.b[j] - segment.a[j]) / scale(j) != 0) return false;
    }
    return true;
  }

  // All pairs of the block that is read.
  void measure() {
    std::vector<Segment> segments;
    std::vector<std::optional<std::size_t>> places(pairs_.size());  // in segments; none: A and B are the same
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Segment one = segment(i);
      if (same(one)) continue;
      places[i] = segments.size();
      segments.push_back(one);
    }
    const std::vector<SegmentLook> looks = find_crossings(asker_, segments, options_.steps);
    tell();
    std::vector<BoundaryRow> rows;
    std::vector<NormalSite> sites;
    std::vector<std::size_t> site_rows;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (!places[i]) {
        rows.push_back(row_of(i, BoundaryOutcome::equal));
        continue;
      }
      const SegmentLook& look = looks[*places[i]];
      left_out_ += look.left_out;
      if (look.brackets.empty()) {
        rows.push_back(row_of(i, look.asked ? BoundaryOutcome::none : BoundaryOutcome::budget));
        rows.back().evaluations = look.evaluations;
        if (!look.asked) continue;
        rows.back().from = look.at_a;
        rows.back().to = look.at_b;
      }
      std::uint64_t looked = look.evaluations;
      for (const Bracket& bracket : look.brackets) {
        rows.push_back(crossing_row(i, bracket));
        rows.back().evaluations += std::exchange(looked, 0);
        if (bracket.unfinished || options_.normal == NormalMethod::none) continue;
        sites.push_back(site_of(segments[*places[i]], bracket));
        site_rows.push_back(rows.size() - 1);
      }
    }
    if (!sites.empty() && !(options_.step > 0 && std::isfinite(options_.step))) {
      throw Error(ErrorCode::input,
                  fmt::format("the spread of {} and {} gives the step {}; expected a --step above 0",
                              a_.info().source, b_.info().source, options_.step));
    }
    if (!sites.empty()) find_normals(asker_, sites, options_.normal, options_.step, [this] { tell(); });
    for (std::size_t s = 0; s < sites.size(); ++s) add_normal(rows[site_rows[s]], sites[s]);
    for (const BoundaryRow& row : rows) {
      summariser_.add(row);
      sink_(row);
    }
  }

  BoundaryRow row_of(std::size_t i, BoundaryOutcome outcome) const {
    const PairSide &a = pairs_.a(), &b = pairs_.b();
    const std::size_t in_a = pairs_.place_a(i), in_b = pairs_.place_b(i);
    BoundaryRow row;
    row.row = done_ + i;
    row.a = a.numbers[in_a];
    row.b = b.numbers[in_b];
    if (!a.ids.empty()) row.a_id = a.ids[in_a];
    if (!b.ids.empty()) row.b_id = b.ids[in_b];
    row.outcome = outcome;
    return row;
  }

  BoundaryRow crossing_row(std::size_t i, const Bracket& bracket) const {
    BoundaryRow row = row_of(i, bracket.unfinished ? BoundaryOutcome::budget : BoundaryOutcome::crossing);
    row.t_low = bracket.low;
    row.t_high = bracket.high;
    row.t = bracket.low + (bracket.high - bracket.low) / 2;
    row.from = bracket.from;
    row.to = bracket.to;
    row.evaluations = bracket.evaluations;
    if (options_.keep_points) {
      row.point.resize(a_.info().inputs);
      segment(i).point(*row.t, row.point);
    }
    return row;
  }

  NormalSite site_of(const Segment& segment, const Bracket& bracket) const {
    NormalSite site;
    site.from = bracket.from;
    site.to = bracket.to;
    const std::size_t inputs = segment.a.size();
    for (std::vector<double>* point : {&site.x, &site.low, &site.high}) point->resize(inputs);
    segment.point(bracket.low + (bracket.high - bracket.low) / 2, site.x);
    segment.point(bracket.low, site.low);
    segment.point(bracket.high, site.high);
    for (std::size_t j = 0; j < inputs; ++j) {
      if (fixed(j) || std::isnan(segment.a[j])) continue;
      site.moved.push_back(j);
      site.scale.push_back(scale(j));
      site.along.push_back((segment.b[j] - segment.a[j]) / site.scale.back());
    }
    site.along = unit(std::move(site.along));
    return site;
  }

  void add_normal(BoundaryRow& row, const NormalSite& site) const {
    row.evaluations += site.evaluations;
    row.method = site.method;
    if (site.normal.empty()) {
      row.outcome = site.unpaid ? BoundaryOutcome::budget : BoundaryOutcome::flat;
      return;
    }
    row.left_out = site.left_out;
    row.angle = kDegrees * site.angle;
    row.angle_low = std::max(0.0, kDegrees * (site.angle - site.error));
    row.angle_high = std::min(90.0, kDegrees * (site.angle + site.error));
    if (site.left_out > 0) {
      row.outcome = BoundaryOutcome::partial;
      row.angle_low = 0;  // what is left out may be as steep as can be
    }
    if (!options_.keep_normals) return;
    row.normal.assign(a_.info().inputs, 0);
    for (std::size_t i = 0; i < site.moved.size(); ++i) row.normal[site.moved[i]] = site.normal[i];
  }

  const ModelInfo& model_;
  RowSource& a_;
  RowSource& b_;
  BoundaryOptions options_;
  Run& run_;
  const std::function<void(const BoundaryRow&)>& sink_;
  RowPairs pairs_;
  PointAsker asker_;
  BoundarySummariser summariser_;
  std::size_t done_ = 0, all_ = 0;  // pairs
  std::size_t left_out_ = 0;        // crossings, at the least
};

}  // namespace

NormalMethod parse_normal(const std::string& text) {
  for (const auto& [name, method] : kMethods) {
    if (text == name) return method;
  }
  throw Error(ErrorCode::usage,
              fmt::format("normal {}; expected auto, margin, label or none", in_quotes(text)));
}

std::string normal_name(NormalMethod method) {
  return std::string(kMethods[static_cast<std::size_t>(method)].first);
}

std::string boundary_outcome_name(BoundaryOutcome outcome) {
  static constexpr std::array names{"crossing", "partial", "flat", "none", "equal", "budget"};
  return names[static_cast<std::size_t>(outcome)];
}

BoundarySummary boundary(const Model& model, RowSource& a, RowSource& b, const BoundaryOptions& options,
                         Run& run, const std::function<void(const BoundaryRow&)>& sink) {
  check(options, model.info(), a.info().inputs);
  return Driver(model, a, b, options, run, sink).run();
}

BoundaryResult boundary(const Model& model, MatrixView<const double> a, MatrixView<const double> b,
                        const BoundaryOptions& options, Run& run) {
  BoundaryResult result;
  const auto from = make_memory_source(a), to = make_memory_source(b);
  result.summary =
      boundary(model, *from, *to, options, run, [&](const BoundaryRow& row) { result.rows.push_back(row); });
  return result;
}

std::size_t count_pairs(RowSource& a, RowSource& b) {
  RowPairs pairs(a, b);
  std::size_t count = 0;
  while (pairs.read(rows_per_block(a.info().inputs))) count += pairs.size();
  pairs.rewind();
  return count;
}

BoundaryCost boundary_cost(const BoundaryOptions& options, std::size_t inputs) {
  std::size_t moved = inputs;
  for (const Feature& feature : options.schema) moved -= feature.fixed ? 1 : 0;
  BoundaryCost cost;
  cost.pair = options.steps + 1;
  cost.bisection = static_cast<std::uint64_t>(std::ceil(53 - std::log2(static_cast<double>(options.steps))));
  cost.margin = 4 + 2 * moved + 6;
  // Ends of a bracket and 17 halvings of half a step, to either side of every direction.
  cost.label = 18 * (2 * (std::max<std::size_t>(moved, 1) - 1) + 4);
  return cost;
}

}  // namespace harmonia
