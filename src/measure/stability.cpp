#include "harmonia/measure/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <memory>

#include "asked_twice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "missing.hpp"
#include "noise_classes.hpp"
#include "stability_rays.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kWaveNumbers = std::size_t{1} << 21;   // answers that a wave keeps
constexpr std::size_t kLeastWave = 1024, kMostWave = 65536;  // points

void check(const StabilityOptions& options, const ModelInfo& model, std::size_t inputs) {
  if (inputs != model.inputs) {
    throw Error(ErrorCode::input,
                fmt::format("data has {} columns; model {} expects {}", inputs, model.name, model.inputs));
  }
  if (options.sigmas.empty()) throw Error(ErrorCode::usage, "no sigma was given; expected at least one");
  for (std::size_t i = 0; i < options.sigmas.size(); ++i) {
    const double sigma = options.sigmas[i];
    if (!(sigma > 0) || !std::isfinite(sigma))
      throw Error(ErrorCode::usage, fmt::format("sigma is {}; expected a number above 0", sigma));
    if (i > 0 && !(sigma > options.sigmas[i - 1]))
      throw Error(ErrorCode::usage, fmt::format("sigma {} is not above {}; expected them to ascend", sigma,
                                                options.sigmas[i - 1]));
  }
  check_confidence(options.confidence);
  if (!(options.half_width >= 0 && options.half_width < 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("half-width is {}; expected between 0 and 1", options.half_width));
  }
  if (options.gamma && options.sigmas.size() != 1) {
    throw Error(ErrorCode::usage,
                fmt::format("gamma asks about one sigma; {} were given", options.sigmas.size()));
  }
  const std::uint64_t samples = stability_samples(options);
  if (samples == 0 || samples > kMostNoiseSamples) {
    throw Error(ErrorCode::usage,
                fmt::format("{} samples; expected from 1 to {}", samples, kMostNoiseSamples));
  }
}

// Where the mean share of the population lies, from two rows or more.
Interval interval_over_rows(const Moments& shares, double confidence) {
  const double mean = shares.mean();
  if (shares.variance() > 0) {
    const double t = student_t_quantile(0.5 + confidence / 2, static_cast<double>(shares.count() - 1));
    return mean_interval(shares, t);
  }
  // All alike: rows of any other share may be as many as can be missed in so many draws.
  const double unseen = 1 - clopper_pearson_low(shares.count(), shares.count(), confidence);
  return {mean - unseen * mean, mean + unseen * (1 - mean)};
}

/// Noise samples around one row at one sigma, as they are counted.
struct Cell {
  std::uint64_t asked = 0, wanted = 0;  // samples so far, and up to the next look
  std::map<long long, std::uint64_t> counts;
  bool done = false;
};

/// A row on its way.
struct Around {
  std::size_t place = 0;  // in the block
  bool started = false;   // its own class was asked for
  NoiseRow row;
  long long decided_class = 0;
  std::vector<Cell> cells;

  bool done() const {
    return std::all_of(cells.begin(), cells.end(), [](const Cell& cell) { return cell.done; });
  }
};

/// Takes rows through noise and model, a wave of points at a time.
class Driver {
 public:
  Driver(const Model& model, const StabilityOptions& options, std::size_t inputs, Run& run)
      : options_(options),
        run_(run),
        asker_(model, options.batch, run),
        noise_(options.noise, inputs, run.seed),
        most_(stability_samples(options)),
        error_(1 - options.confidence),
        wave_(std::clamp(kWaveNumbers / model.info().outputs, kLeastWave, kMostWave)),
        classes_(asker_, noise_, most_) {
    result_.fast_path = classes_.fast_path();
    if (!options.gamma) {
      rays_ = RayCounter::find(asker_, noise_, options_.sigmas);
      if (rays_) result_.fast_path = model.ray_path()->name();
      return;
    }
    result_.looks = stability_looks(*options.gamma, options.margin, options.confidence);
    error_ /= static_cast<double>(result_.looks->looks);
  }

  void set_rows(std::optional<std::size_t> rows) { rows_ = rows; }

  void measure(const RowBlock& block) {
    const std::size_t first = result_.rows.size();
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      check_missing(asker_.model().info(), {block.values.row(i), block.values.columns()}, block.number(i));
      StabilityRow row;
      row.row = block.number(i);
      if (!block.ids.empty()) row.id = block.ids[i];
      if (!block.labels.empty()) row.label = block.labels[i];
      result_.rows.push_back(std::move(row));
    }
    if (first == 0) {
      result_.asked_twice = ask_twice(asker_, block.values.view(), noise_, options_.sigmas);
    }
    const std::span<StabilityRow> rows(result_.rows.data() + first, block.values.rows());
    if (rays_) {
      measure_by_rays(block, rows);
    } else {
      measure_by_points(block, rows);
    }
    rows_before_ += rows.size();
    if (options_.pictures > 0 && result_.rows.size() <= kPicturedRows) take_pictures(block, rows);
  }

  StabilityResult result() {
    add_means();
    if (const auto sentence = asked_twice_warning(result_.asked_twice)) result_.warnings.push_back(*sentence);
    const std::size_t pictured = rows_before_;
    if (options_.pictures > 0 && pictured > kPicturedRows) {
      for (StabilityRow& row : result_.rows) row.pictures.clear();
      result_.warnings.push_back(fmt::format("pictures are kept of at most {}; the data has {}",
                                             counted(kPicturedRows, "row"), pictured));
    }
    return std::move(result_);
  }

 private:
  struct Request {
    Around* around;
    Cell* cell;  // null: the row itself
    double sigma;
    std::uint64_t first;  // sample
    std::size_t start, count;
  };

  void measure_by_points(const RowBlock& block, std::span<StabilityRow> rows) {
    std::size_t next = 0;
    while (next < rows.size() || !active_.empty()) {
      plan_wave(block, next);
      if (!requests_.empty()) ask_wave();
      settle(rows);
    }
  }

  // Row by row, all sigmas of a sample together.
  void measure_by_rays(const RowBlock& block, std::span<StabilityRow> rows) {
    std::vector<RayCounter::Counts*> counts(options_.sigmas.size());
    for (std::size_t i = 0; i < rows.size() && row_cost() <= run_.ledger.left(); ++i) {
      const std::span<const double> x(block.values.row(i), block.values.columns());
      Around around;
      around.place = i;
      around.decided_class = ask_classes(asker_, 1, [&](std::size_t, std::span<double> out) {
                               std::copy(x.begin(), x.end(), out.begin());
                             }).front();
      around.cells.resize(options_.sigmas.size());
      for (std::size_t s = 0; s < counts.size(); ++s) {
        around.cells[s].asked = most_;
        counts[s] = &around.cells[s].counts;
      }
      rays_->count(x, most_, counts);
      finish(around, rows[i]);
      ++rows_done_;
      if (run_.progress) run_.progress({rows_done_, rows_, run_.ledger.spent()});
    }
  }

  std::uint64_t row_cost() const { return 1 + most_ * options_.sigmas.size(); }

  // Whether the budget allows a further row all that it may take. None if that is known only when the rows
  // before it are done.
  std::optional<bool> affordable() const {
    const std::uint64_t left = run_.ledger.left();
    if (left == Ledger::kUnlimited) return true;
    if (row_cost() + promised_ <= left) return true;
    return active_.empty() ? std::optional(false) : std::nullopt;
  }

  void plan_wave(const RowBlock& block, std::size_t& next) {
    const std::size_t rows = block.values.rows();
    requests_.clear();
    points_ = 0;
    for (Around& around : active_) ask(around);
    while (points_ < wave_ && next < rows) {
      const std::optional<bool> start = affordable();
      if (!start) return;
      if (!*start) {
        next = rows;  // no later row costs less
        return;
      }
      Around around;
      around.place = next++;
      around.row.x = block.values.row(around.place);
      around.cells.resize(options_.sigmas.size());
      for (Cell& cell : around.cells) cell.wanted = result_.looks ? result_.looks->first : most_;
      active_.push_back(std::move(around));
      promised_ += row_cost();
      ask(active_.back());
    }
  }

  void ask(Around& around) {
    if (!around.started && points_ < wave_) add({&around, nullptr, 0, 0, points_, 1});
    for (std::size_t s = 0; s < around.cells.size() && points_ < wave_; ++s) {
      Cell& cell = around.cells[s];
      if (cell.done) continue;
      const std::size_t count = std::min<std::uint64_t>(cell.wanted - cell.asked, wave_ - points_);
      add({&around, &cell, options_.sigmas[s], cell.asked, points_, count});
    }
  }

  void add(const Request& request) {
    requests_.push_back(request);
    points_ += request.count;
  }

  void ask_wave() {
    std::vector<NoiseRow*> rows;
    for (const Request& request : requests_) rows.push_back(&request.around->row);
    classes_.begin(rows);
    const std::vector<long long> classes = classes_.ask(points_, [&](std::size_t i) {
      const Request& request =
          *std::prev(std::upper_bound(requests_.begin(), requests_.end(), i,
                                      [](std::size_t at, const Request& r) { return at < r.start; }));
      return NoisePoint{&request.around->row, request.sigma, request.first + (i - request.start), false};
    });
    promised_ -= points_;
    for (const Request& request : requests_) {
      if (request.cell == nullptr) {
        request.around->started = true;
        request.around->decided_class = classes[request.start];
        continue;
      }
      for (std::size_t i = 0; i < request.count; ++i) ++request.cell->counts[classes[request.start + i]];
      request.cell->asked += request.count;
    }
  }

  // Lets go of rows that are done, and asks for more where a look decided nothing.
  void settle(std::span<StabilityRow> rows) {
    for (Around& around : active_) {
      for (Cell& cell : around.cells) {
        if (cell.done || cell.asked != cell.wanted) continue;
        look(around, cell);
        if (cell.done) promised_ -= most_ - cell.asked;
      }
    }
    std::erase_if(active_, [&](const Around& around) {
      if (!around.done()) return false;
      finish(around, rows[around.place]);
      ++rows_done_;
      return true;
    });
    if (run_.progress) run_.progress({rows_done_, rows_, run_.ledger.spent()});
  }

  void look(const Around& around, Cell& cell) const {
    cell.done = !result_.looks || outcome_of(around, cell) != StabilityOutcome::sampled;
    if (!cell.done) cell.wanted = std::min(2 * cell.asked, most_);
  }

  static std::uint64_t successes(const Around& around, const Cell& cell) {
    const auto own = cell.counts.find(around.decided_class);
    return own == cell.counts.end() ? 0 : own->second;
  }

  // `sampled` of a question that has no answer yet.
  StabilityOutcome outcome_of(const Around& around, const Cell& cell) const {
    if (!options_.gamma) return StabilityOutcome::sampled;
    const std::uint64_t own = successes(around, cell);
    switch (side_of(own, cell.asked, *options_.gamma, error_)) {
      case Side::above:
        return StabilityOutcome::stable;
      case Side::below:
        return StabilityOutcome::unstable;
      case Side::unsure:
        break;
    }
    const Interval interval = clopper_pearson_interval(own, cell.asked, 1 - error_);
    return cell.asked >= most_ || interval.high - interval.low <= 2 * options_.margin
               ? StabilityOutcome::borderline
               : StabilityOutcome::sampled;
  }

  StabilityPoint point_of(const Around& around, const Cell& cell, double sigma) const {
    const std::uint64_t own = successes(around, cell);
    StabilityPoint point{.sigma = sigma,
                         .samples = cell.asked,
                         .probability = static_cast<double>(own) / static_cast<double>(cell.asked),
                         .wilson = wilson_interval(own, cell.asked, 1 - error_),
                         .exact = clopper_pearson_interval(own, cell.asked, 1 - error_),
                         .certified_radius = {},
                         .frequencies = {cell.counts.begin(), cell.counts.end()},
                         .outcome = outcome_of(around, cell)};
    if (certifiable(noise_.options())) {
      const double low = clopper_pearson_low(own, cell.asked, 1 - error_);
      if (low > 0.5) point.certified_radius = sigma * normal_quantile(low);
    }
    return point;
  }

  void finish(const Around& around, StabilityRow& row) const {
    row.decided_class = around.decided_class;
    for (std::size_t s = 0; s < around.cells.size(); ++s)
      row.points.push_back(point_of(around, around.cells[s], options_.sigmas[s]));
    const auto keeps = [&](const StabilityPoint& point) {
      return point.most_frequent(around.decided_class) == around.decided_class;
    };
    row.background = row.points.back().most_frequent(around.decided_class);
    for (std::size_t s = row.points.size(); s-- > 0 && !keeps(row.points[s]);)
      row.takeover = row.points[s].sigma;
  }

  // Sample 0 at sigmas from the least to the largest, after the row itself.
  void take_pictures(const RowBlock& block, std::span<StabilityRow> rows) {
    const std::size_t sigmas = options_.sigmas.size(), each = 1 + std::min(options_.pictures, sigmas);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].points.empty() || run_.ledger.left() < each) continue;
      const std::span<const double> x(block.values.row(i), block.values.columns());
      Matrix<double> values(each, x.size());
      for (std::size_t p = 0; p < each; ++p) {
        const std::span<double> out(values.row(p), x.size());
        StabilityPicture picture;
        if (p == 0) {
          std::copy(x.begin(), x.end(), out.begin());
        } else {
          picture.sigma = options_.sigmas[each == 2 ? sigmas - 1 : (p - 1) * (sigmas - 1) / (each - 2)];
          noise_.put(x, picture.sigma, 0, false, out);
        }
        picture.values.assign(out.begin(), out.end());
        rows[i].pictures.push_back(std::move(picture));
      }
      const std::vector<long long> classes =
          ask_classes(asker_, each, [&](std::size_t p, std::span<double> out) {
            std::copy(values.row(p), values.row(p) + x.size(), out.begin());
          });
      for (std::size_t p = 0; p < each; ++p) rows[i].pictures[p].decided_class = classes[p];
    }
  }

  void add_means() {
    for (std::size_t s = 0; s < options_.sigmas.size(); ++s) {
      StabilityMean mean;
      mean.sigma = options_.sigmas[s];
      Moments own, below, above;
      for (const StabilityRow& row : result_.rows) {
        if (row.points.empty()) continue;
        const StabilityPoint& point = row.points[s];
        own.add(point.probability);
        below.add(point.probability - point.wilson.low);
        above.add(point.wilson.high - point.probability);
        mean.holding += point.most_frequent(*row.decided_class) == *row.decided_class ? 1 : 0;
      }
      mean.rows = own.count();
      mean.probability = own.mean();
      if (own.count() >= 2) {
        // Rows share their noise, so that its error does not average out: it is at most the rows' mean one.
        const Interval rows = interval_over_rows(own, options_.confidence);
        mean.interval = {std::max(0.0, own.mean() - std::hypot(own.mean() - rows.low, below.mean())),
                         std::min(1.0, own.mean() + std::hypot(rows.high - own.mean(), above.mean()))};
      }
      result_.means.push_back(mean);
    }
  }

  const StabilityOptions& options_;
  Run& run_;
  PointAsker asker_;
  Noise noise_;
  std::unique_ptr<RayCounter> rays_;  // none: points are asked for
  std::uint64_t most_;
  double error_;  // of each interval; of a question, of each look
  std::size_t wave_;
  NoiseClasses classes_;
  StabilityResult result_;
  std::deque<Around> active_;
  std::uint64_t promised_ = 0;  // evaluations that active rows may still take
  std::vector<Request> requests_;
  std::size_t points_ = 0, rows_done_ = 0, rows_before_ = 0;
  std::optional<std::size_t> rows_;
};

}  // namespace

std::string stability_outcome_name(StabilityOutcome outcome) {
  static constexpr std::array names{"sampled", "stable", "unstable", "borderline", "budget"};
  return names[static_cast<std::size_t>(outcome)];
}

long long StabilityPoint::most_frequent(long long own) const {
  return std::max_element(frequencies.begin(), frequencies.end(),
                          [&](const auto& a, const auto& b) {
                            return a.second != b.second ? a.second < b.second
                                                        : b.first == own && a.first != own;
                          })
      ->first;
}

std::uint64_t stability_samples(const StabilityOptions& options) {
  if (options.gamma) return stability_looks(*options.gamma, options.margin, options.confidence).most;
  if (!(options.half_width > 0)) return options.samples;
  check_confidence(options.confidence);
  const std::uint64_t samples = wilson_trials(options.half_width, options.confidence);
  if (samples > kMostNoiseSamples) {
    throw Error(ErrorCode::usage,
                fmt::format("half-width {} needs more than {} samples a row; expected a wider one",
                            options.half_width, kMostNoiseSamples));
  }
  return samples;
}

std::uint64_t stability_cost(const StabilityOptions& options, std::uint64_t rows) {
  const std::size_t sigmas = options.sigmas.size();
  std::uint64_t pictures = 0;
  if (options.pictures > 0 && rows <= kPicturedRows)
    pictures = rows * (1 + std::min(options.pictures, sigmas));
  return rows * (1 + stability_samples(options) * sigmas) + pictures +
         asked_twice_cost(rows, Ledger::kUnlimited);
}

StabilityResult stability(const Model& model, RowSource& data, const StabilityOptions& options, Run& run) {
  const std::size_t inputs = data.info().inputs;
  check(options, model.info(), inputs);
  const std::uint64_t spent = run.ledger.spent();
  Driver driver(model, options, inputs, run);
  driver.set_rows(data.info().rows);
  RowBlock block;
  while (data.read(block, rows_per_block(inputs))) driver.measure(block);
  StabilityResult result = driver.result();
  result.evaluations = run.ledger.spent() - spent;
  return result;
}

}  // namespace harmonia
