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
#include "harmonia/data/schema.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// How a row of another class is looked for near a given one: by asking the model alone or, from fgsm on, by
/// its gradients (see GradientOptions). Of the first kind a feature stands for a pixel with all its channels
/// where rows are images; f is the output of the row's first class.
enum class AttackMethod {
  /// One feature a step, by gamma. A step moves each of `candidates` features that were not moved before by
  /// the radius, both ways. A point among these of another class is taken at once. Of the rest the four
  /// features whose point has the least f are measured: gamma of each point, from `candidates` / 4 ± pairs of
  /// features that are drawn anew and are the same for all four. The two of largest gamma are measured once
  /// more, on fresh pairs, and the larger one of these alone is where the search goes. A point of another
  /// class among the pairs is taken too. With `paper`: Algorithm 2 of [Kersting 2024], see AttackOptions.
  gamma,
  /// The control: as many features, and as many calls at most, as `gamma` with the same options may use. Each
  /// call asks about another set of `steps` features, each moved by the radius one way or the other, all
  /// drawn at random; when one has another class, the order of its features is walked to see where it
  /// changed.
  random,
  /// Gradient estimates of the margin (f less the largest other output) from `candidates` Gaussian ± pairs of
  /// deviation `radius` a step, and a step of `radius` in every feature by the estimate's sign [Ilyas 2018].
  nes,
  /// A walk along the boundary that comes ever nearer, from classes alone: noise of growing size, or
  /// some of the data's first rows (at most 256, fewer of wide ones), gives a start, bisection the boundary,
  /// labels of `candidates` · √step ± pairs of points around it the normal,
  /// and a step along that, shortened until the class is another one, the next start. The nearest point found
  /// is kept. [HopSkipJump, Chen 2020]
  boundary,
  /// What gamma is worth: as `gamma`, but all calls of a step are spent on candidates, 2.5 times as many, and
  /// the
  /// search goes to the point of the least f.
  greedy,
  /// One step of epsilon in every feature by the sign of the loss's gradient [Goodfellow 2015].
  fgsm,
  /// A start by random signs of the step size, then as bim [Tramer 2018].
  rfgsm,
  /// Steps by the sign of the gradient within the ball of epsilon [Kurakin 2017].
  bim,
  /// The same by the sign of the gradients' decaying sum, each divided by its mean size [Dong 2018].
  mifgsm,
  /// As bim, from a start at random in the ball [Madry 2018].
  pgd,
  /// Plain gradient ascent on the loss less `penalty` times the squared distance; no ball.
  pgd_penalty,
  /// The nearest point of another class along Adam's way down the squared distance plus `constant` times the
  /// margin, in variables that keep the bounds [Carlini 2017].
  cw,
  /// The nearest point of another class met when the squared distance plus c times the loss is minimised by
  /// L-BFGS within the bounds, for a c that is searched for from `constant` on [Szegedy 2014].
  lbfgs,
};

/// How distances of attacks by gradients are measured.
enum class AttackNorm { linf, l2 };
/// Reads linf, l2. Throws Error(usage) for another word.
AttackNorm parse_attack_norm(const std::string& text);
/// The text that parse_attack_norm reads.
std::string attack_norm_name(AttackNorm norm);

/// Reads gamma, random, nes, boundary, greedy, fgsm, rfgsm, bim, mifgsm, pgd, pgd-penalty, cw, lbfgs. Throws
/// Error(usage) for another word.
AttackMethod parse_attack_method(const std::string& text);
/// The text that parse_attack_method reads.
std::string attack_method_name(AttackMethod method);
/// Whether it needs a model with gradients.
bool uses_gradients(AttackMethod method);
/// The norm that it goes by, if the options name none.
AttackNorm standard_norm(AttackMethod method);
/// Whether it looks within a ball of epsilon, which must be given.
bool needs_epsilon(AttackMethod method);
/// Steps that suit it: 1 of fgsm, 10 of rfgsm, bim, mifgsm and pgd, 100 of pgd-penalty and cw, 25
/// of all else; of lbfgs they are calls for each of the 14 constants that it tries.
std::size_t standard_steps(AttackMethod method);

/// The class that a row is to come to.
struct AttackTarget {
  enum class Kind {
    none,    ///< any other one
    given,   ///< `label`
    next,    ///< that after the row's own; after the last one the first
    random,  ///< one of the others, drawn for the row
    least,   ///< that of the least output at the row
  };
  Kind kind = Kind::none;
  long long label = 0;
};

/// Reads next, random, least or the number of a class. Throws Error(usage) for anything else.
AttackTarget parse_attack_target(const std::string& text);
/// The text that parse_attack_target reads; empty: none.
std::string attack_target_name(const AttackTarget& target);

/// What attacks by gradients have of their own. The loss of steps is the cross-entropy of the outputs'
/// softmax: it grows for the row's class, or falls for the target. Changes are in units of the features'
/// scales; those of pgd-penalty, cw and lbfgs are divided by the width of the bounds too, if both are finite,
/// so that constants of images from 0 to 1 and from 0 to 255 are the same.
struct GradientOptions {
  /// Of the ball and of steps: by the gradient's sign (linf) or along the gradient (l2). None: linf, but of
  /// pgd_penalty, cw and lbfgs l2, which have no other.
  std::optional<AttackNorm> norm;
  /// A step: of the ball's methods 0 is a quarter of epsilon, or a fifth (l2); of pgd_penalty what the
  /// gradient is multiplied by, 0 is 0.1 or, if that is less, 1 / (4 penalty); of cw the rate of Adam, 0 is
  /// 0.01.
  double step_size = 0;
  AttackTarget target;
  double decay = 1;          ///< mifgsm: of the sum of gradients
  double kappa = 0;          ///< cw, lbfgs: the margin by which the other class is to lead
  double constant = 0;       ///< cw: weight of the margin, 0 is 1; lbfgs: first weight of the loss, 0 is 0.01
  double penalty = 0;        ///< pgd_penalty: weight of the squared distance, > 0
  bool random_start = true;  ///< pgd: from a random point of the ball, not from the row
  bool probabilities = false;  ///< outputs are probabilities, whose logarithms are the logits
};

/// What to look for, and how long.
struct AttackOptions {
  AttackMethod method = AttackMethod::gamma;
  std::size_t steps = 25;  ///< features changed one after another, or iterations
  /// The step of a feature, and of gamma's ball, in units of its scale; > 0 but for methods that use
  /// gradients, which have no radius. A whole feature moves by the nearest whole number, at least 1.
  double radius = 0;
  double lower = -std::numeric_limits<double>::infinity();  ///< rows stay between these. Points that are only
  double upper = std::numeric_limits<double>::infinity();   ///< measured, such as a ball's, may lie outside
  std::size_t candidates =
      20;  ///< features tried a step (gamma, greedy), pairs of an estimate (nes, boundary)
  /// gamma: Algorithm 2 step by step. The ball of a point is all points that differ from it by the radius in
  /// one feature or, where these are more than 1000, `candidates` of them; gamma of each, from a ball of its
  /// own, and on to the largest. No pairs, features may come again, and only steps are looked at for a class.
  bool paper = false;
  bool go_on = false;  ///< take all steps even after the class has changed; boundary always does
  /// nes: no feature moves farther than this, in units of its scale; boundary: a row found farther away does
  /// not count. 0: any. The ball of methods that need one (see needs_epsilon): > 0; l2: of all features.
  double epsilon = 0;
  GradientOptions gradient;  ///< of methods that use gradients
  Schema schema;             ///< empty, or the features: fixed ones stay, whole ones stay whole, bounds hold
  ImageShape image;          ///< of rows that are images: all channels of a pixel move together
  std::size_t batch = 0;     ///< points in memory at once; 0: chosen for the model
};

/// One accepted step of a search.
struct AttackStep {
  std::optional<std::size_t> feature;  ///< that was changed: a pixel, of images; none for dense steps
  double change = 0;                   ///< of that feature, in radii: 1 or −1, before the bounds
  long long label = 0;                 ///< the class after it
  double logit = 0;                    ///< of the first class, after it
  double distortion_l2 = 0;            ///< after it
};

/// How a search ended.
enum class AttackOutcome {
  changed,  ///< another class, or the target, was found
  kept,     ///< all steps were taken, and the class is the same
  stuck,    ///< there was no further step: no feature left, no start of another class, or no gradient
  budget,   ///< the run's evaluations ran out before the row: no values
  already,  ///< the row is of the target's class: not attacked
};
constexpr std::size_t kAttackOutcomes = 5;  ///< how many outcomes there are
/// The outcome as results write it: the enumerator's name.
std::string attack_outcome_name(AttackOutcome outcome);

/// What became of one row.
struct AttackRow {
  std::size_t row = 0;
  std::string id, label;
  long long first_class = 0, new_class = 0;  ///< before, and after the last step
  std::optional<long long> target;           ///< the class to come to, if not any
  bool success = false;        ///< the class was another, or the target, after a step that is kept
  std::size_t steps = 0;       ///< until the class first changed, or all that were taken
  std::size_t changed = 0;     ///< features (pixels) that differ
  double distortion_l2 = 0;    ///< ‖δ‖₂/√n, in units of the scales
  double distortion_linf = 0;  ///< largest change of a feature, in units of its scale
  double first_logit = 0, last_logit = 0;  ///< output of the first class before and after
  std::uint64_t evaluations = 0;
  AttackOutcome outcome = AttackOutcome::budget;
  std::vector<AttackStep> path;     ///< steps that are kept; empty where random found nothing
  std::vector<double> original;     ///< the row; empty with the outcome budget
  std::vector<double> adversarial;  ///< the row found; of no success the last one
};

/// Throws Error for options that cannot be, or that this model or rows of this width do not go with.
void check_attack(const AttackOptions& options, const Model& model, std::size_t inputs);

/// Options for rows that are images of this shape, if they are any: pixels move whole, and stay between 0 and
/// 255 or the narrower bounds that are given.
AttackOptions of_images(AttackOptions options, const ImageShape& image);

/// Attacks every row of the data, in order, and gives each to `sink`. Memory does not grow with the rows.
/// Every draw depends on the seed, the row and the step alone, so that results do not depend on threads or
/// batch. A row is begun only if the evaluations left pay for all that it may take; the first that they do
/// not pay for and those after it have the outcome `budget`. Throws Error(model) if the model has no classes,
/// Error(usage) for options that cannot be used, Error(input) for a row outside of the bounds.
void attack(const Model& model, RowSource& data, const AttackOptions& options, Run& run,
            const std::function<void(const AttackRow&)>& sink);

/// Evaluations that a row of so many features takes at most.
std::uint64_t attack_cost(const AttackOptions& options, std::size_t inputs);

/// The row after the first `steps` of its path, if these name the features they changed.
std::vector<double> attacked_row(const AttackRow& row, const AttackOptions& options, std::size_t steps);

}  // namespace harmonia
