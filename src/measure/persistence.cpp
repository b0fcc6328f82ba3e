#include "harmonia/measure/persistence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <variant>

#include "asked_twice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/measure/classes.hpp"
#include "missing.hpp"
#include "noise_classes.hpp"
#include "persistence_search.hpp"

namespace harmonia {
namespace {

constexpr std::array<const char*, 4> kOutcomes{"crossing", "censored_low", "censored_high", "budget"};
// For forecasts: samples of the refinement, times the precision squared, of balls and of half-spaces (see
// bench/persistence_bench), and batches of the paper's bracketing.
constexpr double kFewestRefined = 384, kAllAround = 0.2, kOneSide = 28;
constexpr double kPaperLeast = 6, kPaperMost = 14;
constexpr double kLeastSigma = 1e-100, kMostSigma = 1e100;  // their squares are numbers
constexpr std::uint64_t kMostSamples = std::uint64_t{1}
                                       << 24;  // so that displacements of all steps have a number
constexpr std::size_t kRowsTogether = 256;     // whose samples are asked for together

void check(const PersistenceOptions& options, const ModelInfo& model, std::size_t inputs) {
  const auto fail = [](const std::string& text) { throw Error(ErrorCode::usage, text); };
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  if (options.gammas.empty()) fail("no gamma is asked for");
  for (const double gamma : options.gammas) {
    if (!(gamma > 0 && gamma < 1)) fail(fmt::format("gamma is {}; expected between 0 and 1", gamma));
  }
  check_confidence(options.confidence);
  if (!(options.lowest > 0 && options.lowest < options.highest && std::isfinite(options.highest)))
    fail(fmt::format("sigma from {} to {}; expected a range above 0", options.lowest, options.highest));
  if (!(options.lowest >= kLeastSigma && options.highest <= kMostSigma)) {
    fail(fmt::format("sigma from {} to {}; expected between {} and {}", options.lowest, options.highest,
                     kLeastSigma, kMostSigma));
  }
  if (!(options.precision > 0 && options.precision < 1))
    fail(fmt::format("precision is {}; expected between 0 and 1", options.precision));
  if (options.paper && (options.samples == 0 || options.samples > kMostSamples))
    fail(fmt::format("{} samples at one sigma; expected from 1 to {}", options.samples, kMostSamples));
  if (options.most > kMostSamples)
    fail(fmt::format("{} samples at one sigma; expected no more than {}", options.most, kMostSamples));
  const std::uint64_t least = first_look(options);
  if (!options.paper && options.most < least) {
    fail(fmt::format("{} samples at one sigma cannot decide with confidence {}; it takes {} at least",
                     options.most, options.confidence, least));
  }
}

// A search of either kind.
using Search = std::variant<PersistenceSearch, PaperBracketing>;

std::optional<SampleRequest> next_of(Search& search) {
  return std::visit([](auto& s) { return s.next(); }, search);
}

const PersistenceRow& result_of(const Search& search) {
  return std::visit([](const auto& s) -> const PersistenceRow& { return s.result(); }, search);
}

// A row on its way.
struct RowState {
  PersistenceRow head;  // what all its entries carry
  NoiseRow row;
  std::unique_ptr<FrequencyCurve> curve = std::make_unique<FrequencyCurve>();
  std::vector<Search> searches;  // one a gamma
  std::size_t current = 0;
  std::optional<SampleRequest> request;
  bool out_of_budget = false;

  // Goes on to the next gamma that needs something.
  void advance() {
    request.reset();
    while (!request && current < searches.size()) {
      request = next_of(searches[current]);
      if (!request) ++current;
    }
  }
};

// The largest certified radius over the sigmas of the coarse scan. The error is shared by these sigmas and, a
// half for the first, a quarter for the second and so on, by the looks at each, whenever the sampling ended.
void certify(const FrequencyCurve& curve, const PersistenceOptions& options, PersistenceRow& row) {
  const std::vector<double> grid = coarse_grid(options);
  const auto first = static_cast<double>(first_look(options));
  for (const double sigma : grid) {
    const auto found = curve.scan.find(sigma);
    if (found == curve.scan.end() || found->second.asked == 0) continue;
    const KeptCount& count = found->second;
    const double look = 1 + std::ceil(std::log2(static_cast<double>(count.asked) / first));
    const double error = (1 - options.confidence) / static_cast<double>(grid.size()) * std::exp2(-look);
    const double low = clopper_pearson_low(count.kept, count.asked, 1 - error);
    if (!(low > 0.5) || low >= 1) continue;
    const double radius = sigma * normal_quantile(low);
    if (radius <= row.certified_radius.value_or(0)) continue;
    row.certified_radius = radius;
    row.certified_sigma = sigma;
  }
}

/// Takes rows through their searches, the samples of many rows at a time.
class Driver {
 public:
  Driver(const Model& model, std::size_t inputs, const PersistenceOptions& options, Run& run,
         const std::function<void(const PersistenceRow&)>& sink)
      : options_(options),
        run_(run),
        sink_(sink),
        noise_(options.noise, inputs, run.seed),
        asker_(model, options.batch, run),
        classes_(asker_, noise_, options.paper ? options.samples : first_look(options)) {
    summary_.outcomes.resize(kOutcomes.size());
    summary_.fast_path = classes_.fast_path();
  }

  void measure(const RowBlock& block, const std::optional<std::size_t>& rows) {
    const std::size_t count = block.values.rows(), inputs = block.values.columns();
    for (std::size_t i = 0; i < count; ++i)
      check_missing(asker_.model().info(), {block.values.row(i), inputs}, block.number(i));
    if (summary_.rows == 0) {
      const std::vector<double> sigmas = coarse_grid(options_);
      summary_.asked_twice = ask_twice(asker_, block.values.view(), noise_, sigmas);
      spent_ += 2 * summary_.asked_twice.asked;
    }
    for (std::size_t first = 0, some = 0; first < count; first += some) {
      some = std::min(rows_together(), count - first);
      measure_some(block, first, some, rows);
    }
  }

  // A budget goes to as many rows as it is likely to be enough for, so that those come to an end.
  std::size_t rows_together() const {
    const std::uint64_t left = run_.ledger.left();
    if (left == Ledger::kUnlimited) return kRowsTogether;
    return std::clamp<std::uint64_t>(left / persistence_cost(options_, 1).high, 1, kRowsTogether);
  }

  PersistenceSummary summary() {
    summary_.evaluations = spent_;
    if (const auto sentence = asked_twice_warning(summary_.asked_twice))
      summary_.warnings.push_back(*sentence);
    return std::move(summary_);
  }

 private:
  void measure_some(const RowBlock& block, std::size_t first, std::size_t count,
                    const std::optional<std::size_t>& rows) {
    std::vector<RowState> states = open(block, first, count);
    for (;;) {
      std::vector<RowState*> asking;
      std::uint64_t points = 0;
      for (RowState& state : states) {
        if (!state.request || state.out_of_budget) continue;
        if (state.request->points() > run_.ledger.left() - std::min(points, run_.ledger.left())) {
          state.out_of_budget = true;
          continue;
        }
        points += state.request->points();
        asking.push_back(&state);
      }
      if (asking.empty()) break;
      ask(asking, points);
      report_progress(states, rows);
    }
    for (RowState& state : states) close(state);
    rows_done_ += count;
  }

  std::vector<RowState> open(const RowBlock& block, std::size_t first, std::size_t count) {
    std::vector<RowState> states(count);
    const bool affordable = run_.ledger.left() >= count;
    for (std::size_t i = 0; i < count; ++i) states[i].row.x = block.values.row(first + i);
    std::vector<long long> classes(count, 0);
    if (affordable) {
      std::vector<NoiseRow*> rows;
      rows.reserve(count);
      for (RowState& state : states) rows.push_back(&state.row);
      classes_.begin(rows);
      classes = classes_.ask(count, [&](std::size_t i) { return NoisePoint{&states[i].row}; });
      spent_ += count;
    }
    for (std::size_t i = 0; i < count; ++i) {
      RowState& state = states[i];
      const std::size_t place = first + i;
      state.head.row = block.number(place);
      if (affordable) state.head.decided_class = classes[i];
      if (!block.ids.empty()) state.head.id = block.ids[place];
      if (!block.labels.empty()) state.head.label = block.labels[place];
      state.out_of_budget = !affordable;
      for (const double gamma : options_.gammas) {
        if (options_.paper) {
          state.searches.emplace_back(std::in_place_type<PaperBracketing>, options_, gamma);
        } else {
          state.searches.emplace_back(std::in_place_type<PersistenceSearch>, options_, noise_, gamma,
                                      *state.curve);
        }
      }
      if (affordable) state.advance();
    }
    return states;
  }

  void ask(const std::vector<RowState*>& asking, std::uint64_t points) {
    std::vector<std::uint64_t> starts;
    std::uint64_t total = 0;
    for (const RowState* state : asking) {
      starts.push_back(total);
      total += state->request->points();
    }
    std::vector<NoiseRow*> rows;
    rows.reserve(asking.size());
    for (RowState* state : asking) rows.push_back(&state->row);
    classes_.begin(rows);
    const auto classes = classes_.ask(points, [&](std::size_t i) {
      const auto next = std::upper_bound(starts.begin(), starts.end(), i);
      const auto s = static_cast<std::size_t>(next - starts.begin()) - 1;
      const SampleRequest::Point point = asking[s]->request->point(i - starts[s]);
      return NoisePoint{&asking[s]->row, point.sigma, point.sample, point.mirrored};
    });
    spent_ += points;
    std::vector<unsigned char> kept;
    for (std::size_t s = 0; s < asking.size(); ++s) {
      RowState& state = *asking[s];
      const SampleRequest request = std::move(*state.request);
      kept.resize(request.points());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = classes[starts[s] + i] == state.head.decided_class ? 1 : 0;
      }
      std::visit([&](auto& search) { search.take(request, kept); }, state.searches[state.current]);
      state.advance();
    }
  }

  void close(const RowState& state) {
    ++summary_.rows;
    for (std::size_t g = 0; g < state.searches.size(); ++g) {
      PersistenceRow row = result_of(state.searches[g]);
      row.row = state.head.row;
      row.decided_class = state.head.decided_class;
      row.gamma = options_.gammas[g];
      row.id = state.head.id;
      row.label = state.head.label;
      if (state.out_of_budget && g >= state.current) {
        row.outcome = PersistenceOutcome::budget;
        row.sigma = row.low = row.high = std::nullopt;
      } else if (certifiable(options_.noise) && !options_.paper) {
        certify(*state.curve, options_, row);
      }
      ++summary_.outcomes[static_cast<std::size_t>(row.outcome)];
      sink_(row);
    }
  }

  void report_progress(const std::vector<RowState>& states, const std::optional<std::size_t>& rows) {
    if (!run_.progress) return;
    const auto over =
        std::count_if(states.begin(), states.end(), [](const RowState& s) { return !s.request; });
    run_.progress({.rows_done = rows_done_ + static_cast<std::size_t>(over),
                   .rows = rows,
                   .evaluations = run_.ledger.spent()});
  }

  const PersistenceOptions& options_;
  Run& run_;
  const std::function<void(const PersistenceRow&)>& sink_;
  Noise noise_;
  PointAsker asker_;
  NoiseClasses classes_;
  std::size_t rows_done_ = 0;
  std::uint64_t spent_ = 0;
  PersistenceSummary summary_;
};

}  // namespace

std::string outcome_name(PersistenceOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

PersistenceCost persistence_cost(const PersistenceOptions& options, std::uint64_t rows) {
  const auto gammas = static_cast<double>(options.gammas.size());
  const std::uint64_t others = rows + asked_twice_cost(rows, Ledger::kUnlimited);
  const auto all = [&](double each) { return others + static_cast<std::uint64_t>(each) * rows; };
  if (options.paper) {
    const auto samples = static_cast<double>(options.samples);
    return {all(kPaperLeast * samples * gammas), all(kPaperMost * samples * gammas)};
  }
  const auto sigmas = static_cast<double>(coarse_grid(options).size()),
             look = static_cast<double>(first_look(options)), most = static_cast<double>(options.most);
  const auto refined = [&](double at_one) {
    return std::max(kFewestRefined, std::min(most, at_one / (options.precision * options.precision)));
  };
  return {all(0.75 * look * sigmas + gammas * refined(kAllAround)),
          all(2 * look * sigmas + gammas * refined(kOneSide))};
}

std::optional<double> ranked(const PersistenceRow& row) {
  switch (row.outcome) {
    case PersistenceOutcome::crossing:
      return row.sigma;
    case PersistenceOutcome::censored_low:
      return 0;
    case PersistenceOutcome::censored_high:
      return std::numeric_limits<double>::infinity();
    case PersistenceOutcome::budget:
      return std::nullopt;
  }
  return std::nullopt;
}

PersistenceSummary persistence(const Model& model, RowSource& data, const PersistenceOptions& options,
                               Run& run, const std::function<void(const PersistenceRow&)>& sink) {
  check(options, model.info(), data.info().inputs);
  Driver driver(model, data.info().inputs, options, run, sink);
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) driver.measure(block, data.info().rows);
  data.rewind();
  return driver.summary();
}

}  // namespace harmonia
