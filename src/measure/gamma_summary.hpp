#pragma once

#include <map>
#include <string>
#include <vector>

#include "harmonia/measure/gamma.hpp"

namespace harmonia {

/// gamma's mean over rows, from rows that come one at a time.
class MeanGamma {
 public:
  void add(const GammaRow& row);
  GammaStatistics statistics(double confidence) const;

 private:
  Moments plug_in_, split_, value_;
  double sizes_ = 0, squares_ = 0;  // Σ gamma and Σ gamma²
  bool sparse_ = false;             // a row has no upper end
  CompensatedSum excess_;           // of delta² over its own sampling variance
  std::optional<double> only_low_, only_high_;
};

/// Builds the summary from rows alone, so that a resumed run comes to the same one.
class GammaSummariser {
 public:
  GammaSummariser(const GammaOptions& options, const ModelInfo& model);
  /// The entries of one row of data.
  void add(const std::vector<GammaRow>& entries);
  GammaSummary summary() const;

 private:
  void add_to_segment(const std::string& segment, const GammaRow& row);

  GammaOptions options_;
  std::size_t inputs_;
  MeanGamma all_;
  std::vector<MeanGamma> columns_;
  GammaSummary counts_;
  std::map<std::string, MeanGamma> segments_;
  std::map<std::size_t, double> weights_;  // Σ |contribution| by feature
};

}  // namespace harmonia
