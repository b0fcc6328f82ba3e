#include "harmonia/model/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "torch_library.hpp"

namespace harmonia {
namespace {

constexpr std::array kTerms{"none", "ratio", "cosine", "rejection"};
constexpr std::size_t kConvolved = 16;  // rows and columns that four convolutions of 5 × 5 take off an image
constexpr std::size_t kKernel = 5 * 5;
constexpr std::size_t kMostParameters = std::size_t{1} << 30U;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::usage, what); }

void check_network(const NetworkShape& network, std::size_t penalties) {
  if (network.inputs == 0) refuse("a network needs an input; the rows have no features");
  std::size_t before = network.inputs, parameters = 0;
  if (network.channels > 0) {
    const ImageShape& image = network.image;
    if (image.values() != network.inputs || image.values() == 0) {
      refuse(fmt::format("convolutions take images; rows of {} numbers are none of {} × {} × {}",
                         network.inputs, image.height, image.width, image.channels));
    }
    if (std::min(image.height, image.width) < kConvolved + 2) {
      refuse(fmt::format(
          "images of {} × {} are too small for four convolutions of 5 × 5; expected {} × {} or more",
          image.height, image.width, kConvolved + 2, kConvolved + 2));
    }
    before = network.channels * ((image.height - kConvolved) / 2) * ((image.width - kConvolved) / 2);
    parameters = kKernel * network.channels * (image.channels + 3 * network.channels);
  }
  std::vector<std::size_t> widths = network.hidden;
  widths.push_back(network.classes);
  for (const std::size_t width : widths) {
    if (width == 0) refuse("a hidden layer of no units; expected 1 or more");
    if (before > kMostParameters / width || (parameters += before * width) > kMostParameters)
      refuse(fmt::format("the network has more than {} weights", kMostParameters));
    before = width;
  }
  if (penalties != 0 && penalties != widths.size()) {
    refuse(fmt::format("{} penalties for {}; expected one for each, the last among them", penalties,
                       counted(widths.size(), "fully connected layer")));
  }
}

void check_rows(const LabelledRows& rows, const NetworkShape& network) {
  if (rows.rows() == 0 || rows.classes.size() != rows.rows())
    throw Error(ErrorCode::input,
                fmt::format("{} has {} and {}; expected one for each", rows.source,
                            counted(rows.rows(), "row"), counted(rows.classes.size(), "class number")));
  if (rows.values.columns() != network.inputs) {
    throw Error(ErrorCode::input, fmt::format("{} has {} columns; the network takes {}", rows.source,
                                              rows.values.columns(), network.inputs));
  }
  const auto [least, most] = std::minmax_element(rows.classes.begin(), rows.classes.end());
  if (*least < 0 || *most >= static_cast<std::int64_t>(network.classes)) {
    throw Error(ErrorCode::input, fmt::format("{} has the class {}; the network has {}, from 0", rows.source,
                                              *least < 0 ? *least : *most, network.classes));
  }
}

// A class that no row has would be learnt as one that never comes.
void check_classes(const LabelledRows& rows, std::size_t classes) {
  std::vector<bool> met(classes);
  for (const std::int64_t label : rows.classes) met[static_cast<std::size_t>(label)] = true;
  const auto missing = std::find(met.begin(), met.end(), false);
  if (missing != met.end()) {
    throw Error(ErrorCode::input,
                fmt::format("no row of {} has the class {}, and the classes go to {}; expected all from 0 on",
                            rows.source, missing - met.begin(), classes - 1));
  }
  if (classes < 2)
    throw Error(ErrorCode::input,
                fmt::format("all rows of {} have one class; expected two or more", rows.source));
}

void check_numbers(const TrainingOptions& options) {
  const auto at_least = [](double value, double least) { return std::isfinite(value) && value >= least; };
  if (options.epochs == 0 || options.batch == 0)
    refuse("no epochs, or batches of no rows; expected 1 or more");
  if (!(options.rate > 0) || !std::isfinite(options.rate)) refuse("the rate is not above 0");
  if (!at_least(options.alpha, 0)) refuse("the weight of the alignment is below 0");
  for (const double penalty : options.penalties)
    if (!at_least(penalty, 0)) refuse("a penalty is below 0");
  if (!at_least(options.adversarial.epsilon, 0) || options.adversarial.steps == 0)
    refuse("rows cannot be moved by less than 0, or in no steps");
}

// Rows within the bounds of their moves, or one of them would be moved there by more than epsilon.
void check_bounds(const LabelledRows& rows, const AdversarialTraining& how) {
  if (!(how.epsilon > 0) || (!how.lower && !how.upper)) return;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < rows.values.columns(); ++j) {
      const float value = rows.values.row(i)[j];
      if ((!how.lower || value >= static_cast<float>(*how.lower)) &&
          (!how.upper || value <= static_cast<float>(*how.upper)))
        continue;
      throw Error(ErrorCode::input, fmt::format("row {} of {} has {} in column {}; expected a value within "
                                                "--lower and --upper, in the rows' own units",
                                                i, rows.source, value, j));
    }
  }
}

}  // namespace

AlignmentTerm parse_alignment_term(const std::string& text) {
  const auto found = std::find(kTerms.begin(), kTerms.end(), text);
  if (found != kTerms.end()) return static_cast<AlignmentTerm>(found - kTerms.begin());
  refuse(fmt::format("alignment term {} is not known; expected none, ratio, cosine or rejection",
                     in_quotes(text)));
}

std::string alignment_term_name(AlignmentTerm term) { return kTerms[static_cast<std::size_t>(term)]; }

void check_training(const TrainingOptions& options, const Training& training) {
  check_numbers(options);
  check_network(options.network, options.penalties.size());
  check_rows(*training.rows, options.network);
  check_classes(*training.rows, options.network.classes);
  check_bounds(*training.rows, options.adversarial);
  if (training.test != nullptr) check_rows(*training.test, options.network);
  if (options.term != AlignmentTerm::none && training.plane == nullptr)
    refuse("an alignment term needs the plane of the data");
  if (training.plane != nullptr && training.plane->inputs() != options.network.inputs) {
    throw Error(ErrorCode::input, fmt::format("the plane is of {} columns; the network takes {}",
                                              training.plane->inputs(), options.network.inputs));
  }
}

std::vector<TrainingEpoch> train_network(const TrainingOptions& options, const Training& training, Run& run) {
  check_training(options, training);
  std::vector<TrainingEpoch> epochs;
  Training watched = training;
  watched.epoch_done = [&](const TrainingEpoch& epoch, const std::string& file) {
    epochs.push_back(epoch);
    if (training.epoch_done) training.epoch_done(epoch, file);
  };
  torch_library("training").train(options, watched, run);
  return epochs;
}

}  // namespace harmonia
