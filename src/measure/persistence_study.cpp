#include "harmonia/measure/persistence_study.hpp"

#include <algorithm>
#include <cmath>

#include "asked_twice.hpp"
#include "harmonia/data/spread.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/model/point_asker.hpp"

namespace harmonia {
namespace {

constexpr double kSumOfProbabilities = 1e-3;  // that probabilities may be off 1 together

// The number k, from 1, such that the k-th smallest and the k-th largest of n values hold the median.
std::size_t median_rank(std::size_t n, double confidence) {
  double below = 0;
  const auto trials = static_cast<double>(n);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const auto successes = static_cast<double>(k);
    below += std::exp(std::lgamma(trials + 1) - std::lgamma(successes + 1) -
                      std::lgamma(trials - successes + 1) - trials * M_LN2);
    if (below > (1 - confidence) / 2) return k;
  }
  return n / 2;
}

/// Gathers the model's confidence at rows in both forms; which of them is meant is known at the end.
class Confidences {
 public:
  void add(std::span<const double> outputs) {
    const double largest = *std::max_element(outputs.begin(), outputs.end());
    if (outputs.size() == 1) {
      raw_.push_back(std::max(largest, 1 - largest));
      soft_.push_back(1 / (1 + std::exp(-std::abs(largest))));
      probabilities_ &= largest >= 0 && largest <= 1;
      return;
    }
    double sum = 0, exponentials = 0;
    for (const double output : outputs) {
      sum += output;
      exponentials += std::exp(output - largest);
      probabilities_ &= output >= 0 && output <= 1;
    }
    probabilities_ &= std::abs(sum - 1) <= kSumOfProbabilities;
    raw_.push_back(largest);
    soft_.push_back(1 / exponentials);
  }
  bool probabilities() const { return probabilities_; }
  const std::vector<double>& values(bool probabilities) const { return probabilities ? raw_ : soft_; }

 private:
  std::vector<double> raw_, soft_;
  bool probabilities_ = true;
};

Confidences confidences(PointAsker& asker, RowSource& data) {
  Confidences gathered;
  const std::size_t inputs = data.info().inputs, outputs = asker.model().info().outputs;
  RowBlock block;
  while (data.read(block, rows_per_block(std::max(inputs, outputs)))) {
    const std::size_t rows = block.values.rows();
    if (asker.run().ledger.left() < rows) break;
    Matrix<double> answers(rows, outputs);
    asker.ask(
        rows,
        [&](std::size_t i, std::span<double> x) { std::copy_n(block.values.row(i), inputs, x.begin()); },
        answers.view());
    for (std::size_t i = 0; i < rows; ++i) gathered.add({answers.row(i), outputs});
  }
  data.rewind();
  return gathered;
}

std::optional<DetectorScore> score(std::span<const double> natural, std::span<const double> against,
                                   double confidence) {
  if (natural.empty() || against.empty()) return std::nullopt;
  return DetectorScore{auroc(natural, against, confidence), natural.size(), against.size()};
}

std::vector<double> ranks(std::span<const PersistenceRow> rows, double gamma) {
  std::vector<double> values;
  for (const PersistenceRow& row : rows) {
    const auto value = row.gamma == gamma ? ranked(row) : std::nullopt;
    if (value) values.push_back(*value);
  }
  return values;
}

// Minus gamma, so that the higher of two is the more natural as with the other numbers.
std::vector<double> harmonic(const Model& model, RowSource& data, const GammaOptions& options, Run& run) {
  std::vector<double> values;
  gamma(model, data, options, run, [&](const GammaRow& row) {
    if (row.gamma) values.push_back(-*row.gamma);
  });
  data.rewind();
  return values;
}

PersistenceDetector detector_of(const Model& model, RowSource& data, RowSource& against,
                                const std::optional<double>& radius, const PersistenceOptions& options,
                                const PersistenceResult& result, Run& run) {
  PersistenceDetector detector;
  for (const double gamma : options.gammas) {
    detector.persistence.push_back(
        score(ranks(result.rows, gamma), ranks(result.against, gamma), options.confidence));
  }
  const ModelInfo& info = model.info();
  if (info.outputs > 1 || info.binary) {
    PointAsker asker(model, options.batch, run);
    const Confidences natural = confidences(asker, data), others = confidences(asker, against);
    const bool probabilities = natural.probabilities() && others.probabilities();
    detector.form = probabilities ? ConfidenceForm::probabilities : ConfidenceForm::softmax;
    detector.confidence =
        score(natural.values(probabilities), others.values(probabilities), options.confidence);
  }
  if (radius) {
    GammaOptions ball;
    ball.ball.radius = *radius;
    ball.schema = options.noise.schema;
    ball.confidence = options.confidence;
    ball.batch = options.batch;
    const std::vector<double> natural = harmonic(model, data, ball, run);
    detector.gamma = score(natural, harmonic(model, against, ball, run), options.confidence);
  }
  return detector;
}

/// Shows the rows of two data sets as those of one while it lives.
class JoinedProgress {
 public:
  JoinedProgress(Run& run, const RowSource& data, const RowSource* against) : run_(run), own_(run.progress) {
    if (!own_ || against == nullptr) return;
    const std::optional<std::size_t> one = data.info().rows, other = against->info().rows;
    if (one && other) rows_ = *one + *other;
    run_.progress = [this](const Progress& progress) {
      own_({.rows_done = before_ + progress.rows_done, .rows = rows_, .evaluations = progress.evaluations});
    };
  }
  JoinedProgress(const JoinedProgress&) = delete;
  JoinedProgress& operator=(const JoinedProgress&) = delete;
  ~JoinedProgress() { run_.progress = own_; }

  void go_on(std::size_t before) { before_ = before; }

 private:
  Run& run_;
  std::function<void(const Progress&)> own_;
  std::optional<std::size_t> rows_;
  std::size_t before_ = 0;
};

}  // namespace

PersistenceMedian persistence_median(std::span<const PersistenceRow> rows, double gamma, double confidence) {
  std::vector<double> values = ranks(rows, gamma);
  std::sort(values.begin(), values.end());
  PersistenceMedian result{.gamma = gamma, .rows = values.size(), .median = {}, .interval = {}};
  const std::size_t n = values.size();
  if (n == 0) return result;
  const double lower = values[(n - 1) / 2], upper = values[n / 2];
  result.median = lower > 0 && std::isfinite(upper) ? (lower + upper) / 2 : lower;
  const std::size_t rank = median_rank(n, confidence);
  if (rank > 0) result.interval = Interval{values[rank - 1], values[n - rank]};
  return result;
}

std::vector<ClassChange> class_changes(std::span<const PersistenceRow> rows) {
  std::vector<ClassChange> changes;
  const PersistenceRow* last = nullptr;
  for (const PersistenceRow& row : rows) {
    if (last != nullptr && last->row != row.row && last->decided_class && row.decided_class &&
        last->decided_class != row.decided_class)
      changes.push_back({last->row, *last->decided_class, *row.decided_class});
    last = &row;
  }
  return changes;
}

std::string confidence_form_name(ConfidenceForm form) {
  switch (form) {
    case ConfidenceForm::none:
      return "none";
    case ConfidenceForm::probabilities:
      return "probabilities";
    case ConfidenceForm::softmax:
      return "softmax";
  }
  return "none";
}

double scale_range(PersistenceOptions& options, const std::string& scale, RowSource& reference) {
  const bool own_units = scale != "none" || options.noise.directions.rows() > 0;
  const double unit = own_units ? 1 : noise_scale(options.noise.schema, reference);
  options.lowest *= unit;
  options.highest *= unit;
  return unit;
}

PersistenceResult persistence_study(const Model& model, RowSource& data, RowSource* against,
                                    const std::optional<double>& radius, const PersistenceOptions& options,
                                    Run& run) {
  const std::uint64_t spent = run.ledger.spent();
  PersistenceResult result;
  const auto measure = [&](RowSource& source, std::vector<PersistenceRow>& rows) {
    const PersistenceSummary summary =
        persistence(model, source, options, run, [&](const PersistenceRow& row) { rows.push_back(row); });
    result.outcomes.resize(summary.outcomes.size());
    for (std::size_t i = 0; i < summary.outcomes.size(); ++i) result.outcomes[i] += summary.outcomes[i];
    if (result.fast_path.empty()) result.fast_path = summary.fast_path;
    result.asked_twice.asked += summary.asked_twice.asked;
    result.asked_twice.differed += summary.asked_twice.differed;
  };
  {
    JoinedProgress progress(run, data, against);
    measure(data, result.rows);
    progress.go_on(result.rows.size() / options.gammas.size());
    if (against != nullptr) measure(*against, result.against);
  }
  if (const auto sentence = asked_twice_warning(result.asked_twice)) result.warnings.push_back(*sentence);
  if (against != nullptr) result.detector = detector_of(model, data, *against, radius, options, result, run);
  result.evaluations = run.ledger.spent() - spent;
  return result;
}

}  // namespace harmonia
