#include "harmonia/search/attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "gradient_options.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/point_asker.hpp"
#include "row_search.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kWaveNumbers = std::size_t{1} << 21;   // answers that a wave keeps
constexpr std::size_t kLeastWave = 1024, kMostWave = 65536;  // points
constexpr std::size_t kHeldNumbers = std::size_t{1} << 23;   // features of rows on their way
constexpr std::size_t kOtherNumbers = std::size_t{1} << 21;  // features of rows to start from
constexpr std::size_t kLeastOthers = 16, kMostOthers = 256;  // rows

/// A row on its way.
struct Pursuit {
  AttackRow row;
  std::unique_ptr<RowSearch> search;  // none before the row itself was asked
  std::size_t start = 0;              // of its points in the wave
  bool told = false;                  // the row is done without a search

  std::size_t wanted() const { return search ? search->wanted() : 1; }
  bool done() const { return told || (search && search->wanted() == 0); }
  GradientAsk* gradient_ask() const { return search ? search->gradient_ask() : nullptr; }
};

/// Points of many rows that are asked together.
struct Wave {
  std::vector<Pursuit*> asked;
  std::size_t points = 0;
  Matrix<double> answers, gradients;  // the second of those alone that want them

  void clear() {
    asked.clear();
    points = 0;
  }
  void add(Pursuit& pursuit) {
    pursuit.start = points;
    points += pursuit.wanted();
    asked.push_back(&pursuit);
  }
  /// Whose point i is.
  Pursuit& at(std::size_t i) const {
    return **std::prev(std::upper_bound(asked.begin(), asked.end(), i,
                                        [](std::size_t at, const Pursuit* p) { return at < p->start; }));
  }
};

/// Takes rows through their searches, a wave of many rows' points at a time.
class Driver {
 public:
  Driver(const Model& model, const AttackOptions& options, const DataInfo& data, Run& run,
         const std::function<void(const AttackRow&)>& sink)
      : moves_(options, data.inputs),
        setting_{options, moves_, model.info(), run.seed, others_},
        run_(run),
        sink_(sink),
        asker_(model, options.batch, run),
        cost_(attack_cost(options, data.inputs)),
        spent_before_(run.ledger.spent()),
        wave_(std::clamp(kWaveNumbers / model.info().outputs, kLeastWave, kMostWave)),
        held_(std::max<std::size_t>(4, kHeldNumbers / data.inputs)),
        rows_(data.rows) {}

  void attack(const RowBlock& block) {
    if (setting_.options.method == AttackMethod::boundary && others_.rows() == 0) keep_others(block);
    std::size_t next = 0;
    while (next < block.values.rows() || !active_.empty()) {
      plan_wave(block, next);
      ask_answers();
      ask_gradients();
      settle();
    }
  }

 private:
  void keep_others(const RowBlock& block) {
    const std::size_t inputs = moves_.inputs();
    const std::size_t kept =
        std::min(block.values.rows(), std::clamp(kOtherNumbers / inputs, kLeastOthers, kMostOthers));
    others_.resize(kept, inputs);
    std::copy(block.values.row(0), block.values.row(0) + kept * inputs, others_.row(0));
  }

  AttackRow row_of(const RowBlock& block, std::size_t i) const {
    AttackRow row;
    row.row = block.number(i);
    if (!block.ids.empty()) row.id = block.ids[i];
    if (!block.labels.empty()) row.label = block.labels[i];
    return row;
  }

  void plan_wave(const RowBlock& block, std::size_t& next) {
    plain_.clear();
    steep_.clear();
    for (Pursuit& pursuit : active_) {
      if (!pursuit.done() && room()) add(pursuit);
    }
    while (room() && next < block.values.rows() && active_.size() < held_) {
      if (out_of_budget_ || !affordable()) {
        if (!active_.empty()) return;
        out_of_budget_ = true;
        tell(row_of(block, next++));
        continue;
      }
      start(block, next++);
    }
  }

  bool affordable() const {
    const std::uint64_t left = run_.ledger.left();
    return left == Ledger::kUnlimited || (cost_ <= left && promised_ <= left - cost_);
  }

  void start(const RowBlock& block, std::size_t i) {
    const std::span<const double> x(block.values.row(i), block.values.columns());
    if (!setting_.model.takes_missing &&
        std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) {
      throw Error(ErrorCode::input, fmt::format("row {} has a missing value (NaN); model {} takes none",
                                                block.number(i), setting_.model.name));
    }
    moves_.check(x, block.number(i));
    active_.emplace_back();
    active_.back().row = row_of(block, i);
    active_.back().row.original.assign(x.begin(), x.end());
    promised_ += cost_;
    add(active_.back());
  }

  bool room() const { return plain_.points + steep_.points < wave_; }
  void add(Pursuit& pursuit) { (pursuit.gradient_ask() ? steep_ : plain_).add(pursuit); }

  void ask_answers() {
    const auto write = [&](std::size_t i, std::span<double> x) {
      const Pursuit& pursuit = plain_.at(i);
      if (pursuit.search) return pursuit.search->write(i - pursuit.start, x);
      std::copy(pursuit.row.original.begin(), pursuit.row.original.end(), x.begin());
    };
    plain_.answers.resize(plain_.points, setting_.model.outputs);
    asker_.ask(plain_.points, write, plain_.answers.view());
    for (Pursuit* pursuit : plain_.asked) {
      const std::size_t count = pursuit->wanted();
      const MatrixView<const double> own = plain_.answers.view().slice(pursuit->start, count);
      pay(*pursuit, count);
      if (pursuit->search) {
        pursuit->search->take(own);
      } else {
        begin(*pursuit, {own.row(0), own.columns});
      }
    }
  }

  void ask_gradients() {
    const auto write = [&](std::size_t i, std::span<double> x) { steep_.at(i).search->write(0, x); };
    const auto by_outputs = [&](std::size_t i, std::span<const double> outputs, std::span<double> out) {
      steep_.at(i).gradient_ask()->by_outputs(outputs, out);
    };
    steep_.answers.resize(steep_.points, setting_.model.outputs);
    steep_.gradients.resize(steep_.points, moves_.inputs());
    asker_.ask_gradients(steep_.points, write, by_outputs, steep_.answers.view(), steep_.gradients.view());
    for (Pursuit* pursuit : steep_.asked) {
      pay(*pursuit, 1);
      pursuit->gradient_ask()->take({steep_.answers.row(pursuit->start), steep_.answers.columns()},
                                    {steep_.gradients.row(pursuit->start), steep_.gradients.columns()});
    }
  }

  void pay(Pursuit& pursuit, std::size_t count) {
    promised_ -= count;
    pursuit.row.evaluations += count;
  }

  void begin(Pursuit& pursuit, std::span<const double> outputs) {
    AttackRow& row = pursuit.row;
    row.first_class = Reading::of(outputs, setting_.model, 0).label;
    row.new_class = row.first_class;
    row.first_logit = row.last_logit = Reading::of(outputs, setting_.model, row.first_class).value;
    row.target = target_of(setting_, row, outputs);
    if (row.target == row.first_class) {
      pursuit.told = true;
      row.adversarial = row.original;
      row.outcome = AttackOutcome::already;
      return;
    }
    pursuit.search = make_search(setting_, row);
  }

  // Lets go of rows that are done, in their order.
  void settle() {
    while (!active_.empty() && active_.front().done()) {
      Pursuit& pursuit = active_.front();
      AttackRow& row = pursuit.row;
      promised_ -= cost_ - row.evaluations;
      row.distortion_l2 = moves_.distance(row.original, row.adversarial);
      row.distortion_linf = moves_.largest(row.original, row.adversarial);
      row.changed = moves_.changed(row.original, row.adversarial);
      tell(row);
      active_.pop_front();
    }
    if (run_.progress) run_.progress({rows_done_, rows_, run_.ledger.spent() - spent_before_});
  }

  void tell(const AttackRow& row) {
    sink_(row);
    ++rows_done_;
  }

  Moves moves_;
  Matrix<double> others_;  // the first rows of the data
  SearchSetting setting_;
  Run& run_;
  const std::function<void(const AttackRow&)>& sink_;
  PointAsker asker_;
  std::uint64_t cost_, spent_before_;
  std::size_t wave_, held_;  // points at once; rows at once
  std::optional<std::size_t> rows_;
  std::deque<Pursuit> active_;
  Wave plain_, steep_;  // points of rows that want their classes alone, and of rows that want gradients
  std::size_t rows_done_ = 0;
  std::uint64_t promised_ = 0;  // evaluations that active rows may still take
  bool out_of_budget_ = false;
};

}  // namespace

std::string attack_outcome_name(AttackOutcome outcome) {
  static constexpr std::array<const char*, kAttackOutcomes> names{"changed", "kept", "stuck", "budget",
                                                                  "already"};
  return names[static_cast<std::size_t>(outcome)];
}

void check_attack(const AttackOptions& options, const Model& asked, std::size_t inputs) {
  const ModelInfo& model = asked.info();
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  if (options.steps == 0) throw Error(ErrorCode::usage, "steps is 0; expected at least 1");
  if (options.candidates == 0) throw Error(ErrorCode::usage, "candidates is 0; expected at least 1");
  if (uses_gradients(options.method)) {
    check_gradient_options(options, asked);
  } else if (!(options.radius > 0) || !std::isfinite(options.radius)) {
    throw Error(ErrorCode::usage, fmt::format("radius is {}; method {} needs a number above 0",
                                              options.radius, attack_method_name(options.method)));
  }
  if (options.gradient.target.kind != AttackTarget::Kind::none && !uses_gradients(options.method)) {
    throw Error(ErrorCode::usage, fmt::format("method {} looks for any other class; a target is of methods "
                                              "that use gradients",
                                              attack_method_name(options.method)));
  }
  if (!(options.lower < options.upper)) {
    throw Error(ErrorCode::usage, fmt::format("bounds are {} and {}; expected the lower one to be below",
                                              options.lower, options.upper));
  }
  if (!(options.epsilon >= 0) || !std::isfinite(options.epsilon))
    throw Error(ErrorCode::usage, fmt::format("epsilon is {}; expected 0 or more", options.epsilon));
  if (options.paper && options.method != AttackMethod::gamma && options.method != AttackMethod::random) {
    throw Error(ErrorCode::usage,
                fmt::format("the paper has no method {}; expected gamma, or random to go with it",
                            attack_method_name(options.method)));
  }
  if (options.method == AttackMethod::nes && model.outputs == 1 && !model.binary) {
    throw Error(ErrorCode::usage,
                fmt::format("method nes needs the outputs of the classes; model {} answers with the class "
                            "alone; expected method boundary, or --binary for a probability",
                            model.name));
  }
}

AttackOptions of_images(AttackOptions options, const ImageShape& image) {
  if (image.channels == 0) return options;
  options.image = image;
  options.lower = std::max(options.lower, 0.0);
  options.upper = std::min(options.upper, 255.0);
  return options;
}

std::uint64_t attack_cost(const AttackOptions& options, std::size_t inputs) {
  const std::size_t units = Moves(options, inputs).units();
  switch (options.method) {
    case AttackMethod::gamma:
    case AttackMethod::random:
      return 1 + (options.paper ? paper_search_cost(options, units) : gamma_search_cost(options, units));
    case AttackMethod::nes:
      return 1 + nes_search_cost(options);
    case AttackMethod::boundary:
      return 1 + boundary_search_cost(options, inputs);
    case AttackMethod::greedy:
      return 1 + gamma_search_cost(options, units);
    case AttackMethod::cw:
      return 1 + cw_search_cost(options);
    case AttackMethod::lbfgs:
      return 1 + lbfgs_search_cost(options);
    default:
      return 1 + step_search_cost(options);
  }
}

std::vector<double> attacked_row(const AttackRow& row, const AttackOptions& options, std::size_t steps) {
  const Moves moves(options, row.original.size());
  std::vector<double> x = row.original;
  for (std::size_t i = 0; i < std::min(steps, row.path.size()); ++i) {
    if (row.path[i].feature) moves.move(x, *row.path[i].feature, row.path[i].change);
  }
  return x;
}

void attack(const Model& model, RowSource& data, const AttackOptions& options, Run& run,
            const std::function<void(const AttackRow&)>& sink) {
  const std::size_t inputs = data.info().inputs;
  check_attack(options, model, inputs);
  Driver driver(model, options, data.info(), run, sink);
  RowBlock block;
  while (data.read(block, rows_per_block(inputs))) driver.attack(block);
}

}  // namespace harmonia
