#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/core/run.hpp"
#include "harmonia/data/image.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// How a row of another class is looked for near a given one, by asking the model alone.
enum class AttackMethod {
  gamma,     ///< one feature (pixel) a step, the one where gamma grows most
  random,    ///< the control: features at random, with as many changes and calls
  nes,       ///< gradient estimates from Gaussian ± pairs [Ilyas 2018]
  boundary,  ///< a walk along the boundary that comes ever nearer [HopSkipJump, Chen 2020]
};

/// Reads gamma, random, nes, boundary.
AttackMethod parse_attack_method(const std::string& text);
/// The text that parse_attack_method reads.
std::string attack_method_name(AttackMethod method);

/// What to look for, and how long.
struct AttackOptions {
  AttackMethod method = AttackMethod::gamma;
  std::size_t steps = 25;  ///< features changed one after another, or iterations
  double radius = 0;       ///< the step of a feature, and of gamma's ball; > 0
  double lower = -std::numeric_limits<double>::infinity();  ///< rows stay between these, if they are finite
  double upper = std::numeric_limits<double>::infinity();
  std::size_t candidates =
      20;                 ///< features tried a step (gamma, random), pairs of an estimate (nes, boundary)
  bool paper = false;     ///< gamma: the paper's Algorithm 2, step by step
  bool go_on = false;     ///< take all steps even after the class has changed
  ImageShape image;       ///< of rows that are images: all channels of a pixel move together
  std::size_t batch = 0;  ///< points in memory at once; 0: chosen for the model
};

/// One accepted step of a search.
struct AttackStep {
  std::size_t feature = 0;  ///< that was changed: a pixel, of images; none for dense steps
  long long label = 0;      ///< the class after it
  double logit = 0;         ///< of the first class, after it
};

/// What became of one row.
struct AttackRow {
  std::size_t row = 0;
  std::string id, label;
  long long first_class = 0, new_class = 0;  ///< before, and after the last step
  bool success = false;                      ///< the class was another after some step that is kept
  std::size_t steps = 0;                     ///< until the class first changed, or all of them
  std::size_t changed = 0;                   ///< features (pixels) that differ
  double distortion_l2 = 0;                  ///< ‖δ‖₂/√n
  double distortion_linf = 0;                ///< largest change of a feature
  double first_logit = 0, last_logit = 0;    ///< output of the first class before and after
  std::uint64_t evaluations = 0;
  std::vector<AttackStep> path;
  std::vector<double> adversarial;  ///< the row found; of no success the last one
};

/// Attacks every row of the data, in order, and gives each to `sink`. Memory does not grow with the rows.
/// Every draw depends on the seed, the row and the step alone. Throws Error(model) if the model has no
/// classes.
void attack(const Model& model, RowSource& data, const AttackOptions& options, Run& run,
            const std::function<void(const AttackRow&)>& sink);

}  // namespace harmonia
