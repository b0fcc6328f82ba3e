#include "harmonia/search/attack_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../measure/share_run.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

bool attacked(const AttackRow& row) {
  return row.outcome != AttackOutcome::budget && row.outcome != AttackOutcome::already;
}

AttackSummary summary_of(const std::vector<AttackRow>& rows, std::size_t steps, double confidence) {
  AttackSummary summary;
  std::vector<double> taken, features, l2, linf;
  std::map<std::size_t, std::size_t> at_step{{1, 0}, {steps, 0}};  // the curve's ends are always there
  for (const AttackRow& row : rows) {
    ++summary.outcomes[static_cast<std::size_t>(row.outcome)];
    summary.evaluations += row.evaluations;
    if (!attacked(row)) continue;
    ++summary.rows;
    if (!row.success) continue;
    ++at_step[row.steps];
    taken.push_back(static_cast<double>(row.steps));
    features.push_back(static_cast<double>(row.changed));
    l2.push_back(row.distortion_l2);
    linf.push_back(row.distortion_linf);
  }
  summary.changed = taken.size();
  summary.steps = median(std::move(taken), confidence);
  summary.features = median(std::move(features), confidence);
  summary.l2 = median(std::move(l2), confidence);
  summary.linf = median(std::move(linf), confidence);
  if (summary.rows == 0) return summary;
  const auto share = [&](std::size_t changed) {
    return static_cast<double>(changed) / static_cast<double>(summary.rows);
  };
  summary.share = share(summary.changed);
  summary.interval = wilson_interval(summary.changed, summary.rows, confidence);
  std::size_t changed = 0;
  for (const auto& [step, rows_at_step] : at_step) {
    changed += rows_at_step;
    summary.curve.push_back(
        {step, changed, share(changed), wilson_interval(changed, summary.rows, confidence)});
  }
  return summary;
}

/// Keeps rows, and the values of those that will be looked at.
class Keeper {
 public:
  void add(const AttackRow& row) {
    rows_.push_back(row);
    if (row.outcome == AttackOutcome::budget) return;
    std::vector<std::size_t>& list = row.success ? changed_ : others_;
    if (list.size() < kShownAttacks && changed_.size() + (row.success ? 0 : others_.size()) < kShownAttacks) {
      list.push_back(rows_.size() - 1);
    } else {
      drop(rows_.size() - 1);
    }
    while (changed_.size() + others_.size() > kShownAttacks) {
      drop(others_.back());
      others_.pop_back();
    }
  }
  std::vector<AttackRow> rows() { return std::move(rows_); }

 private:
  void drop(std::size_t place) {
    // Assigning {} would keep the memory.
    std::vector<double>().swap(rows_[place].original);
    std::vector<double>().swap(rows_[place].adversarial);
    std::vector<AttackStep>().swap(rows_[place].path);
  }

  std::vector<AttackRow> rows_;
  std::vector<std::size_t> changed_, others_;  // places of rows that are kept whole
};

AttackComparison compare(const std::vector<AttackRow>& first, const std::vector<AttackRow>& second,
                         double confidence) {
  AttackComparison comparison;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (!attacked(first[i]) || !attacked(second[i])) continue;
    ++comparison.rows;
    comparison.both += first[i].success && second[i].success ? 1 : 0;
    comparison.first_alone += first[i].success && !second[i].success ? 1 : 0;
    comparison.second_alone += !first[i].success && second[i].success ? 1 : 0;
  }
  comparison.difference =
      share_difference(comparison.first_alone, comparison.second_alone, comparison.rows, confidence);
  return comparison;
}

bool takes_all_steps(AttackMethod method) {
  return method == AttackMethod::boundary || method == AttackMethod::cw || method == AttackMethod::lbfgs;
}

void check_epsilon(const AttackOptions& options, const std::optional<AttackMethod>& against) {
  const auto within = [](AttackMethod m) {
    return m == AttackMethod::nes || m == AttackMethod::boundary || needs_epsilon(m);
  };
  if (!(options.epsilon > 0) || within(options.method) || (against && within(*against))) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("method {} has no ball; epsilon is of nes, boundary, fgsm, rfgsm, bim, mifgsm and pgd",
                  attack_method_name(options.method)));
}

}  // namespace

AttackStudy attack_study(const Model& model, RowSource& data, const AttackOptions& options,
                         const std::optional<AttackMethod>& against, double confidence, Run& run,
                         const std::function<void(const AttackRow&)>& sink) {
  check_confidence(confidence);
  if (against && *against == options.method) {
    throw Error(ErrorCode::usage, fmt::format("both methods are {}; expected two different ones",
                                              attack_method_name(*against)));
  }
  check_epsilon(options, against);
  // Both before the first is paid for.
  check_attack(options, model, data.info().inputs);
  if (against) {
    AttackOptions second = options;
    second.method = *against;
    check_attack(second, model, data.info().inputs);
  }
  if (options.go_on && takes_all_steps(options.method) && !against) {
    throw Error(ErrorCode::usage, fmt::format("method {} takes all steps anyway; expected no --go-on with it",
                                              attack_method_name(options.method)));
  }
  AttackStudy study;
  const std::size_t parts = against ? 2 : 1;
  for (std::size_t part = 0; part < parts; ++part) {
    AttackOptions own = options;
    if (part == 1) own.method = *against;
    if (part == 1) data.rewind();
    Keeper keeper;
    SharedRun share(run, part, parts);
    attack(model, data, own, share.run(), [&](const AttackRow& row) {
      keeper.add(row);
      if (part == 0 && sink) sink(row);
    });
    AttackRun result{.method = own.method, .rows = keeper.rows(), .summary = {}};
    result.summary = summary_of(result.rows, options.steps, confidence);
    study.evaluations += result.summary.evaluations;
    const std::size_t unpaid = result.summary.outcomes[static_cast<std::size_t>(AttackOutcome::budget)];
    if (unpaid > 0) {
      study.warnings.push_back(fmt::format("{}: {} not attacked, because a row may take {} evaluations",
                                           attack_method_name(own.method), counted(unpaid, "row"),
                                           attack_cost(own, data.info().inputs)));
    }
    study.runs.push_back(std::move(result));
  }
  if (against) study.comparison = compare(study.runs[0].rows, study.runs[1].rows, confidence);
  return study;
}

}  // namespace harmonia
