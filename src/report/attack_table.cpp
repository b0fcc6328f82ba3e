#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harmonia/core/text.hpp"
#include "harmonia/report/attack_report.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kShownRows = 20;
constexpr std::array kOtherOutcomes{
    std::pair(AttackOutcome::stuck, "without a further step"),
    std::pair(AttackOutcome::budget, "not attacked for want of evaluations"),
    std::pair(AttackOutcome::already, "not attacked, being of the target's class")};

std::string name_of(const AttackRow& row) {
  return row.id.empty() ? std::to_string(row.row) : printable(row.id, 24);
}

std::string median_text(const std::optional<Median>& median) {
  if (!median) return "-";
  return number(median->value) +
         (median->interval ? " " + interval(median->interval->low, median->interval->high) : "");
}

bool targeted(const AttackRunRecord& record) {
  return record.options.gradient.target.kind != AttackTarget::Kind::none;
}

std::string method_lines(const AttackRun& run, bool targeted, double confidence) {
  const AttackSummary& s = run.summary;
  std::string text =
      fmt::format("  {:<10}{} of {} {}", attack_method_name(run.method) + " ", grouped(s.changed),
                  counted(s.rows, "row"), targeted ? "came to their target" : "changed their class");
  if (s.rows > 0) {
    text += fmt::format(": {:.4f} {} at {:g} %", s.share, interval(s.interval.low, s.interval.high),
                        100 * confidence);
  }
  text += "\n";
  if (s.changed > 0) {
    text += fmt::format("            steps {}   features {}   l2 {}   largest {}\n", median_text(s.steps),
                        median_text(s.features), median_text(s.l2), median_text(s.linf));
  }
  std::string others;
  for (const auto& [outcome, words] : kOtherOutcomes) {
    const std::size_t rows = s.outcomes[static_cast<std::size_t>(outcome)];
    if (rows == 0) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", grouped(rows), words);
  }
  if (!others.empty()) text += fmt::format("            {}\n", others);
  return text + fmt::format("            {} evaluations\n", grouped(s.evaluations));
}

std::string row_lines(const AttackRun& run) {
  std::string text =
      fmt::format("  {:>8}  {:>6}  {:>9}  {:>5}  {:>7}  {:>10}  {:>10}  {:>11}  outcome\n", "row", "class",
                  "new class", "steps", "changed", "l2", "largest", "evaluations");
  const std::size_t shown = std::min(run.rows.size(), kShownRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const AttackRow& row = run.rows[i];
    if (row.outcome == AttackOutcome::budget) {
      text += fmt::format("  {:>8}  {:>6}  {:>9}  {:>5}  {:>7}  {:>10}  {:>10}  {:>11}  budget\n",
                          name_of(row), "-", "-", "-", "-", "-", "-", 0);
      continue;
    }
    text +=
        fmt::format("  {:>8}  {:>6}  {:>9}  {:>5}  {:>7}  {:>10}  {:>10}  {:>11}  {}\n", name_of(row),
                    row.first_class, row.new_class, row.steps, row.changed, number(row.distortion_l2),
                    number(row.distortion_linf), grouped(row.evaluations), attack_outcome_name(row.outcome));
  }
  if (run.rows.size() > kShownRows)
    text += fmt::format("  … the first {} of {} rows; all are in --json and --csv\n", kShownRows,
                        grouped(run.rows.size()));
  return text;
}

std::string what_was_asked(const AttackRunRecord& record) {
  const AttackOptions& o = record.options;
  std::string text = attack_method_name(o.method);
  if (o.paper) text += " (the paper's Algorithm 2)";
  if (record.against) text += " against " + attack_method_name(*record.against);
  text += fmt::format(", {}", counted(o.steps, "step"));
  if (o.radius > 0) text += fmt::format(", radius {:g}", o.radius);
  if (o.lower > -std::numeric_limits<double>::infinity() || o.upper < std::numeric_limits<double>::infinity())
    text += fmt::format(", values from {:g} to {:g}", o.lower, o.upper);
  if (o.epsilon > 0) text += fmt::format(", within {:g}", o.epsilon);
  if (needs_epsilon(o.method)) text += o.gradient.norm == AttackNorm::l2 ? " (l2)" : " (linf)";
  const std::string target = attack_target_name(o.gradient.target);
  if (!target.empty()) text += ", target " + target;
  return text;
}

}  // namespace

std::string attack_text(const AttackRunRecord& record, const AttackStudy& study) {
  const AttackSummary& first = study.runs.front().summary;
  if (first.rows == 0) {
    return first.outcomes[static_cast<std::size_t>(AttackOutcome::budget)] > 0
               ? "no row was attacked: the evaluations ran out"
               : "no row was attacked: all are of the target's class";
  }
  std::string text =
      fmt::format("{} {} {} of {}{}", attack_method_name(study.runs[0].method),
                  targeted(record) ? "brought" : "changed the class of", grouped(first.changed),
                  counted(first.rows, "row"), targeted(record) ? " to their target" : "");
  if (!study.comparison || study.comparison->rows == 0) return text;
  const AttackComparison& c = *study.comparison;
  const std::string other = attack_method_name(study.runs[1].method);
  text += fmt::format(", {} {}{}", other, targeted(record) ? "" : "that of ",
                      grouped(study.runs[1].summary.changed));
  const Interval& d = c.difference.interval;
  // More or fewer is said only where the interval and the exact test agree.
  const bool known = c.difference.p_value <= 1 - record.confidence;
  const char* verdict = known && d.low > 0    ? "more than"
                        : known && d.high < 0 ? "fewer than"
                                              : "not known to be more or fewer than";
  return text + fmt::format(
                    "; difference of the shares {:+.4f} [{:+.4f}, {:+.4f}] at {:g} % (exact test p {:.2g}): "
                    "{} by {}",
                    c.difference.difference, d.low, d.high, 100 * record.confidence, c.difference.p_value,
                    verdict, other);
}

std::string attack_table(const AttackRunRecord& record, const AttackStudy& study) {
  std::string text = fmt::format(
      "attack on {} at the rows of {}\n{}; seed {}\n\n", printable(record.model.name, std::string::npos),
      data_text(record.data, study.runs.front().rows.size()), what_was_asked(record), record.seed);
  text += row_lines(study.runs.front()) + "\n";
  for (const AttackRun& run : study.runs) text += method_lines(run, targeted(record), record.confidence);
  text += "  medians over the rows that changed; l2 is the root mean square change of a feature\n";
  return text +
         fmt::format("\n{}\n\n{}", attack_text(record, study), cost_text(study.evaluations, record.seconds));
}

}  // namespace harmonia
