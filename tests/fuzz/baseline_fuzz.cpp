#include <limits>
#include <string>

#include "harmonia/core/error.hpp"
#include "harmonia/report/baseline_file.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  try {
    const SavedBaseline saved = read_baseline({"base.json", std::string(fuzz::text_of(data, size))});
    const Baseline& baseline = saved.baseline;
    RowCounts counts = no_counts(baseline);
    GammaRow row;
    row.gamma = 0.1;
    row.decided_class = 1;
    for (const double value : {0.0, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
      const std::vector<double> x(baseline.features.size(), value);
      fuzz::require(
          !region_text(baseline.partition, baseline.partition.region_of(x), baseline.features).empty());
      count_row(baseline, x, row, counts);
    }
    merge(counts, baseline.counts);
    fuzz::require(mean_gamma(baseline, counts) >= 0);
  } catch (const Error& error) {
    fuzz::require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
