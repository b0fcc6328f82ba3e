#include "harmonia/report/training_report.hpp"

#include <fmt/format.h>

#include "harmonia/core/statistics.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

double share(std::uint64_t right, std::uint64_t rows) {
  return static_cast<double>(right) / static_cast<double>(rows);
}

}  // namespace

std::string epoch_text(const TrainingEpoch& epoch, const TrainingOptions& options, std::uint64_t tested) {
  std::string text =
      fmt::format("epoch {} of {}: loss {:.4g}", epoch.epoch, options.epochs, epoch.cross_entropy);
  if (!options.penalties.empty()) text += fmt::format(", penalty {:.3g}", epoch.penalty);
  if (epoch.alignment)
    text += fmt::format(", {} {:.4g}", alignment_term_name(options.term), *epoch.alignment);
  text += fmt::format(", right {:.2f} %", 100 * share(epoch.right, epoch.rows));
  if (options.adversarial.epsilon > 0) text += " of the moved rows";
  if (epoch.test_right)
    text += fmt::format(", of the tested {:.2f} %", 100 * share(*epoch.test_right, tested));
  return text + fmt::format("; {:.1f} s\n", epoch.seconds);
}

std::string training_csv(const std::vector<TrainingEpoch>& epochs, std::uint64_t tested, double confidence) {
  std::string text =
      "epoch,objective,cross_entropy,penalty,alignment,accuracy,test_accuracy,test_low,test_high,seconds\n";
  for (const TrainingEpoch& epoch : epochs) {
    text += fmt::format("{},{},{},{},{},{},", epoch.epoch, epoch.objective, epoch.cross_entropy,
                        epoch.penalty, csv_field(epoch.alignment), share(epoch.right, epoch.rows));
    if (epoch.test_right) {
      const Interval interval = wilson_interval(*epoch.test_right, tested, confidence);
      text += fmt::format("{},{},{}", share(*epoch.test_right, tested), interval.low, interval.high);
    } else {
      text += ",,";
    }
    text += fmt::format(",{:.3f}\n", epoch.seconds);
  }
  return text;
}

std::string training_text(const std::vector<TrainingEpoch>& epochs, std::uint64_t tested, double confidence) {
  const TrainingEpoch& last = epochs.back();
  const bool was_tested = last.test_right.has_value();
  const std::uint64_t right = was_tested ? *last.test_right : last.right,
                      rows = was_tested ? tested : last.rows;
  const Interval interval = wilson_interval(right, rows, confidence);
  return fmt::format("{:.2f} % of {} rows {} are right, {:g} % interval [{:.2f}, {:.2f}]\n",
                     100 * share(right, rows), grouped(rows),
                     was_tested ? "tested" : "learnt from (none were tested)", 100 * confidence,
                     100 * interval.low, 100 * interval.high);
}

}  // namespace harmonia
