#include "harmonia/model/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "torch_library.hpp"

namespace harmonia {
namespace {

constexpr std::array kTerms{"none", "ratio", "cosine", "rejection"};
constexpr std::size_t kConvolved = 16;  // rows and columns that four convolutions of 5 × 5 take off an image
constexpr std::size_t kMostParameters = std::size_t{1} << 30U;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::usage, what); }

void check_network(const NetworkShape& network, std::size_t penalties) {
  if (network.classes < 2) refuse("a network needs two classes; the labels have one");
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
  if (rows.values.columns() != network.inputs) {
    throw Error(ErrorCode::input, fmt::format("{} has {} columns; the network takes {}", rows.source,
                                              rows.values.columns(), network.inputs));
  }
  const auto most = *std::max_element(rows.classes.begin(), rows.classes.end());
  if (most >= static_cast<std::int64_t>(network.classes)) {
    throw Error(ErrorCode::input, fmt::format("{} has the class {}; the network has {}, from 0", rows.source,
                                              most, network.classes));
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
  check_network(options.network, options.penalties.size());
  check_rows(*training.rows, options.network);
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
