#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/image.hpp"
#include "harmonia/data/labelled_rows.hpp"
#include "harmonia/data/manifold.hpp"

namespace harmonia {

/// The layers of a network: convolutions, if any, then fully connected ones. ReLU comes after every layer but
/// the last, whose outputs are logits.
struct NetworkShape {
  std::size_t inputs = 0, classes = 0;
  std::vector<std::size_t> hidden{};  ///< widths of the fully connected layers before the last
  /// Of four convolutions of 5 × 5 and a pooling of 2 × 2 before them [Bell 2024, Table 3]; 0: none.
  std::size_t channels = 0;
  ImageShape image{};  ///< of a row, for convolutions
  double unit = 1;     ///< rows are divided by it first: 255 for pixels
};

/// What is added to the loss so that gradients by the inputs lie in the plane of the data [Bell 2024,
/// equation 6]; g is a row's gradient, Πg its part along the plane.
enum class AlignmentTerm {
  none,
  ratio,     ///< ‖g‖ / ‖Πg‖, the paper's
  cosine,    ///< 1 − ‖Πg‖ / ‖g‖
  rejection  ///< ‖g − Πg‖, which shortens gradients, too
};
/// Reads none, ratio, cosine, rejection. Throws Error(usage) for another word.
AlignmentTerm parse_alignment_term(const std::string& text);
/// The text that parse_alignment_term reads.
std::string alignment_term_name(AlignmentTerm term);

/// Rows are moved before the network learns from them, to where its loss is larger: a random start in the
/// box of ±epsilon, then steps along the gradient's sign.
struct AdversarialTraining {
  double epsilon = 0;                      ///< the box, in units of the rows; 0: rows as they are
  std::size_t steps = 7;                   ///< of 2.5 epsilon / steps
  std::optional<double> lower{}, upper{};  ///< no value gets beyond
};

/// How a network is trained: Adam, and cross-entropy with what is added to it.
struct TrainingOptions {
  NetworkShape network;
  std::size_t epochs = 21, batch = 100;
  double rate = 0.001;
  /// λ of each fully connected layer: λ Σw² / units is added, over the layer's weights and outputs.
  std::vector<double> penalties{};
  AdversarialTraining adversarial{};
  AlignmentTerm term = AlignmentTerm::none;
  double alpha = 1;  ///< weight of that term
  std::string device = "cpu";
};

/// One time through the rows. Means over the rows as they were learnt from.
struct TrainingEpoch {
  std::size_t epoch = 0;  ///< from 1
  double objective = 0, cross_entropy = 0, penalty = 0;
  std::optional<double> alignment{};  ///< the term's mean without its weight, of rows that have a direction
  std::uint64_t right = 0, rows = 0;  ///< of the rows learnt from, before each step
  std::optional<std::uint64_t> test_right{};
  double seconds = 0;
};

/// What a training is told, and whom it tells.
struct Training {
  const LabelledRows* rows = nullptr;
  const LabelledRows* test = nullptr;  ///< none: nothing is tested
  const Manifold* plane = nullptr;     ///< for the alignment term
  /// Called after every epoch with the network as it is, a TorchScript file's bytes.
  std::function<void(const TrainingEpoch&, const std::string& file)> epoch_done{};
};

/// Throws Error(usage) for a network or options that cannot be, and Error(input) for rows that do not fit
/// them.
void check_training(const TrainingOptions& options, const Training& training);

/// Trains by libharmonia_torch. Weights and orders are drawn from the run's seed; sums, and so the last
/// digits, depend on its number of threads. Throws what check_training() does, Error(model) if the objective
/// is no finite number any more, Error(interrupted) if stopped.
std::vector<TrainingEpoch> train_network(const TrainingOptions& options, const Training& training, Run& run);

}  // namespace harmonia
