#include "harmonia/report/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/compare.hpp"
#include "result_json.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> optional_number(const ResultField& field) {
  const double value = field.number_or_nan();
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// A value with its interval.
struct Estimate {
  std::optional<double> value, low, high;
  std::size_t rows = 0;  // 0: of a difference
};

Estimate estimate_of(const ResultField& statistics) {
  return {optional_number(statistics.at("mean")), optional_number(statistics.at("low")),
          optional_number(statistics.at("high")), statistics.at("rows").count()};
}

GateCheck check(const std::string& name, const std::string& what, const Estimate& found, double limit) {
  GateCheck check{name, GateOutcome::inconclusive, ""};
  if (found.high && *found.high <= limit) check.outcome = GateOutcome::passed;
  if (found.low && *found.low > limit) check.outcome = GateOutcome::failed;
  const char* said = check.outcome == GateOutcome::passed   ? "at most"
                     : check.outcome == GateOutcome::failed ? "above"
                                                            : "not known to be at most, nor above,";
  const std::string over = found.rows > 0 ? " over " + counted(found.rows, "row") : "";
  check.text = fmt::format("{} {} {}{} is {} {:g}", what, number(found.value),
                           interval(found.low, found.high), over, said, limit);
  return check;
}

// A gamma result, its rows apart.
struct Measured {
  Json frame;
  GammaColumns columns;
  std::vector<std::size_t> rows;
  bool one_a_row = true;
};

Measured read_measured(const ResultFile& file) {
  Measured measured;
  result_command(file, {"gamma"});
  measured.frame = parse_result(file, {"gamma"}, [&](Json& json) {
    const ResultField field(file, json);
    GammaRow row;
    row.row = field.at("row").count();
    row.gamma = optional_number(field.at("gamma"));
    row.split = optional_number(field.at("split"));
    row.high = optional_number(field.at("high"));
    if (field.at("outcome").text() == outcome_name(Outcome::sparse)) row.outcome = Outcome::sparse;
    if (field.at("outcome").text() == outcome_name(Outcome::budget)) row.outcome = Outcome::budget;
    measured.one_a_row &= !field.has("column");
    measured.columns.add(row);
    measured.rows.push_back(row.row);
  });
  return measured;
}

// gamma of different balls does not compare.
void check_same_options(const ResultFile& file, const Json& result, const ResultFile& base,
                        const Json& baseline) {
  const Json &a = ResultField(file, result).at("options").object(),
             &b = ResultField(base, baseline).at("options").object();
  for (const char* key : {"radius", "ball", "average", "scale", "schema", "output", "model_output", "margin",
                          "binary", "paper", "confidence"}) {
    const Json left = a.value(key, Json()), right = b.value(key, Json());
    if (left == right) continue;
    throw Error(ErrorCode::input,
                fmt::format("{} has {} {}, {} has {}; gamma compares only where they are the same", file.name,
                            key, printable(left.dump()), base.name, printable(right.dump())));
  }
}

// Where the difference of two independent means lies, from their own intervals.
Estimate independent_difference(const Estimate& a, const Estimate& b) {
  Estimate result;
  if (!a.value || !b.value) return result;
  result.value = *a.value - *b.value;
  if (a.rows < 2 || b.rows < 2) return result;  // the interval of one row says nothing of others
  if (a.low && b.high) result.low = *result.value - std::hypot(*a.value - *a.low, *b.high - *b.value);
  if (a.high && b.low) result.high = *result.value + std::hypot(*a.high - *a.value, *b.value - *b.low);
  return result;
}

GateCheck check_increase(const ResultFile& file, const Measured& result, const ResultFile& base,
                         double limit) {
  const Measured baseline = read_measured(base);
  check_same_options(file, result.frame, base, baseline.frame);
  const ResultField a(file, result.frame), b(base, baseline.frame);
  const ResultField data_a = a.at("data"), data_b = b.at("data");
  const bool same_rows = result.one_a_row && baseline.one_a_row && result.rows == baseline.rows &&
                         data_a.has("fingerprint") && data_b.has("fingerprint") &&
                         data_a.at("fingerprint").text() == data_b.at("fingerprint").text();
  if (same_rows) {
    const PairedDifference paired =
        paired_difference(result.columns, baseline.columns, a.at("options").at("confidence").number());
    return check("increase over the baseline",
                 fmt::format("increase of mean gamma (paired over {})", counted(paired.rows, "row")),
                 {paired.difference, paired.low, paired.high, 0}, limit);
  }
  return check("increase over the baseline",
               result.one_a_row ? "increase of mean gamma (the rows differ: two independent samples)"
                                : "increase of mean gamma (output all: taken as two independent samples)",
               independent_difference(estimate_of(a.at("summary").at("gamma")),
                                      estimate_of(b.at("summary").at("gamma"))),
               limit);
}

}  // namespace

std::string outcome_name(GateOutcome outcome) {
  static constexpr std::array names{"passed", "failed", "inconclusive"};
  return names[static_cast<std::size_t>(outcome)];
}

GateOutcome GateResult::outcome() const {
  const auto any = [&](GateOutcome outcome) {
    return std::any_of(checks.begin(), checks.end(),
                       [&](const GateCheck& check) { return check.outcome == outcome; });
  };
  if (any(GateOutcome::failed)) return GateOutcome::failed;
  return any(GateOutcome::inconclusive) ? GateOutcome::inconclusive : GateOutcome::passed;
}

GateResult gate(const ResultFile& result, const std::optional<ResultFile>& baseline,
                const GateOptions& options) {
  if (!options.max_gamma && !baseline) {
    throw Error(ErrorCode::usage,
                "nothing to hold the result against; expected --max-gamma, --against or both");
  }
  GateResult found;
  if (!baseline && result_command(result, {"gamma", "compare"}) == "compare") {
    const Json frame = parse_result(result);
    const ResultField models = ResultField(result, frame).at("models");
    for (std::size_t m = 0; m < models.size(); ++m) {
      const std::string name = printable(models.at(m).at("name").text());
      found.checks.push_back(check("mean gamma of " + name, "mean gamma of " + name,
                                   estimate_of(models.at(m).at("gamma")), *options.max_gamma));
    }
    return found;
  }
  const Measured measured = read_measured(result);
  if (options.max_gamma) {
    const ResultField gamma = ResultField(result, measured.frame).at("summary").at("gamma");
    found.checks.push_back(check("mean gamma", "mean gamma", estimate_of(gamma), *options.max_gamma));
  }
  if (baseline) found.checks.push_back(check_increase(result, measured, *baseline, options.max_increase));
  return found;
}

}  // namespace harmonia
