#include "harmonia/measure/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/output.hpp"
#include "harmonia/model/point_asker.hpp"
#include "missing.hpp"
#include "probability_watch.hpp"

namespace harmonia {
namespace {

constexpr std::array<std::string_view, 2> kGradients{"loss", "output"};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double length(std::span<const double> v) { return std::sqrt(dot(v, v)); }

/// The derivative, by the outputs, of the number whose gradient is asked for. Its size is of no matter, and
/// set so that nothing of a sure answer is lost to rounding.
void by_outputs(std::span<const double> outputs, std::size_t wanted, const AlignmentOptions& options,
                std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  out[wanted] = options.gradient == AlignedGradient::loss ? -1 : 1;
  if (options.gradient == AlignedGradient::output || options.probabilities) return;
  // softmax − one, over what the others have together.
  double largest = -INFINITY, others = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (k != wanted) largest = std::max(largest, outputs[k]);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (k != wanted) others += out[k] = std::exp(outputs[k] - largest);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (k != wanted) out[k] /= others;
}

/// Takes the part of a gradient that is along the plane.
class Compass {
 public:
  Compass(const ComponentsFound& components, bool paper)
      : components_(components), plane_(components.mean, components.directions), paper_(paper) {}

  std::size_t dimensions() const { return plane_.dimensions(); }

  void measure(std::span<const double> gradient, AlignmentRow& row) {
    const double size = length(gradient);
    if (size == 0) {
      row.outcome = AlignmentOutcome::flat;
      return;
    }
    part_.resize(gradient.size());
    paper_ ? project_as_printed(gradient) : plane_.project(gradient, part_);
    const double along = length(part_) / size;
    row.cosine = along;
    double across = 0;
    for (std::size_t j = 0; j < gradient.size(); ++j)
      across += (gradient[j] - part_[j]) * (gradient[j] - part_[j]);
    row.rejection = std::sqrt(across) / size;
    if (along > 0) {
      row.ratio = 1 / along;
    } else {
      row.outcome = AlignmentOutcome::across;
    }
  }

 private:
  // Equations 3 and 4: the components are taken for orthonormal, and of different labels they are not.
  void project_as_printed(std::span<const double> gradient) {
    std::vector<double> turned(gradient.size());
    for (std::size_t k = 0; k < components_.directions.rows(); ++k) {
      const std::span<const double> direction(components_.directions.row(k), gradient.size());
      const double along = dot(direction, gradient);
      for (std::size_t j = 0; j < turned.size(); ++j) turned[j] += along * direction[j];
    }
    const double square = dot(turned, turned), share = square > 0 ? dot(gradient, turned) / square : 0;
    for (std::size_t j = 0; j < turned.size(); ++j) part_[j] = share * turned[j];
  }

  const ComponentsFound& components_;
  Manifold plane_;
  bool paper_;
  std::vector<double> part_;
};

AlignmentMean mean_of(const Moments& values, double confidence) {
  AlignmentMean result{.rows = values.count(), .mean = values.mean(), .interval = {}};
  if (values.count() < 2) return result;
  const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(values.count() - 1));
  result.interval = mean_interval(values, t);
  return result;
}

// The class of the row's label; none without one.
std::optional<std::size_t> labelled(const AlignmentRow& row, const ModelInfo& model) {
  const std::optional<std::size_t> known = labelled_class(row.label, model);
  if (known || row.label.empty()) return known;
  throw Error(ErrorCode::input,
              fmt::format("row {} has the label {}; expected the number of one of the {} outputs of model "
                          "{}{}",
                          row.row, in_quotes(row.label), model.outputs, model.name,
                          model.classes.empty() ? "" : ", or the name of a class"));
}

}  // namespace

AlignedGradient parse_aligned_gradient(const std::string& text) {
  const auto found = std::find(kGradients.begin(), kGradients.end(), text);
  if (found != kGradients.end()) return static_cast<AlignedGradient>(found - kGradients.begin());
  throw Error(ErrorCode::usage,
              fmt::format("gradient {} is not known; expected loss or output", in_quotes(text)));
}

std::string aligned_gradient_name(AlignedGradient gradient) {
  return std::string(kGradients[static_cast<std::size_t>(gradient)]);
}

std::string alignment_outcome_name(AlignmentOutcome outcome) {
  static constexpr std::array names{"measured", "flat", "across", "budget"};
  return names[static_cast<std::size_t>(outcome)];
}

void check_alignment(const Model& model, const DataInfo& data) {
  const ModelInfo& info = model.info();
  if (data.inputs != info.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", data.inputs, info.name, info.inputs));
  }
  if (model.differentiable() == nullptr) {
    throw Error(ErrorCode::model,
                fmt::format("model {} is of kind {}, which has no gradients; alignment takes a TorchScript "
                            "model (net.pt) or, in Python, a torch.nn.Module",
                            info.name, info.kind));
  }
  if (info.outputs < 2) {
    throw Error(ErrorCode::model,
                fmt::format("model {} has one output; alignment takes one output a class", info.name));
  }
}

AlignmentResult alignment(const Model& model, RowSource& data, const ComponentsFound& components,
                          const AlignmentOptions& options, Run& run) {
  check_alignment(model, data.info());
  check_confidence(options.confidence);
  if (components.directions.columns() != data.info().inputs) {
    throw Error(ErrorCode::input,
                fmt::format("the plane is of rows of {} features; {} has {}", components.directions.columns(),
                            data.info().source, data.info().inputs));
  }
  const ModelInfo& info = model.info();
  const std::size_t inputs = info.inputs;
  Compass compass(components, options.paper);
  if (compass.dimensions() == inputs) {
    throw Error(ErrorCode::input, fmt::format("the components span all {} features, and every gradient is "
                                              "along them; expected fewer components",
                                              inputs));
  }
  PointAsker asker(model, options.batch, run);
  AlignmentResult result;
  const std::uint64_t before = run.ledger.spent();
  Moments cosine, ratio, square;
  ProbabilityWatch watch;
  std::size_t flat = 0, unasked = 0;
  RowBlock block;
  Matrix<double> answers, gradients;
  while (data.read(block, rows_per_block(inputs))) {
    const std::size_t count = block.values.rows(), first = result.rows.size();
    std::vector<std::optional<std::size_t>> labels(count);
    for (std::size_t i = 0; i < count; ++i) {
      check_missing(info, {block.values.row(i), inputs}, block.number(i));
      AlignmentRow& row = result.rows.emplace_back();
      row.row = block.number(i);
      if (!block.ids.empty()) row.id = block.ids[i];
      if (!block.labels.empty()) row.label = block.labels[i];
      labels[i] = labelled(row, info);
    }
    const auto write = [&](std::size_t i, std::span<double> x) {
      std::copy_n(block.values.row(i), inputs, x.begin());
    };
    const auto derive = [&](std::size_t i, std::span<const double> outputs, std::span<double> out) {
      AlignmentRow& row = result.rows[first + i];
      row.decided_class = *class_of(outputs, info.binary);
      by_outputs(outputs, labels[i].value_or(static_cast<std::size_t>(row.decided_class)), options, out);
    };
    const std::size_t asked = std::min<std::uint64_t>(count, run.ledger.left());
    answers.resize(asked, info.outputs);
    gradients.resize(asked, inputs);
    asker.ask_gradients(asked, write, derive, answers.view(), gradients.view());
    for (std::size_t i = asked; i < count; ++i) result.rows[first + i].outcome = AlignmentOutcome::budget;
    unasked += count - asked;
    for (std::size_t i = 0; i < asked; ++i) {
      AlignmentRow& row = result.rows[first + i];
      compass.measure({gradients.row(i), inputs}, row);
      watch.look({answers.row(i), info.outputs});
      flat += row.outcome == AlignmentOutcome::flat ? 1 : 0;
      if (row.cosine) {
        cosine.add(*row.cosine);
        square.add(*row.cosine * *row.cosine);
      }
      if (row.ratio) ratio.add(*row.ratio);
    }
    if (run.progress) run.progress({result.rows.size(), data.info().rows, run.ledger.spent() - before});
  }
  if (flat > 0)
    result.warnings.push_back(fmt::format("{} a gradient of zero, which has no direction, and no number",
                                          flat == 1 ? "1 row has" : fmt::format("{} rows have", flat)));
  if (unasked > 0)
    result.warnings.push_back(
        fmt::format("{} not measured, because the evaluations ran out", counted(unasked, "row")));
  if (options.gradient == AlignedGradient::loss && !options.probabilities && watch.suspicious())
    result.warnings.push_back(ProbabilityWatch::warning(info.name));
  result.cosine = mean_of(cosine, options.confidence);
  result.ratio = mean_of(ratio, options.confidence);
  result.squared_cosine = mean_of(square, options.confidence);
  result.dimensions = compass.dimensions();
  result.by_chance = static_cast<double>(compass.dimensions()) / static_cast<double>(inputs);
  result.evaluations = run.ledger.spent() - before;
  return result;
}

}  // namespace harmonia
