#include "row_measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/row_source.hpp"

namespace harmonia {
namespace {

// Numbers of rows have 32 bits where draws are keyed by them. Those of a stream begin where no baseline
// comes.
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 32;
constexpr std::uint64_t kFirstNumber = std::uint64_t{1} << 31;

// Rotations are the same for every row of the baseline, and have to be those of the stream's rows too: they
// come of the seed alone.
std::uint64_t seed_of_balls(const Baseline& baseline, const std::string& partition) {
  const BallKind kind = baseline.options.ball.kind;
  const bool shared = kind == BallKind::rotated || kind == BallKind::rotated_simplex;
  return shared ? baseline.seed : partition_seed(baseline.seed, partition);
}

// Some rows of a block under their own numbers.
class PlacedRows final : public RowSource {
 public:
  PlacedRows(const RowBlock& rows, std::span<const std::size_t> places,
             const std::vector<std::string>& features)
      : rows_(rows), places_(places) {
    info_.source = "the stream";
    info_.inputs = rows.values.columns();
    info_.features = features;
    info_.rows = places.size();
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    const std::size_t count = std::min(limit, places_.size() - done_);
    block.reset(0, count, info_.inputs);
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> x(rows_.values.row(places_[done_ + i]), info_.inputs);
      if (const auto wrong = std::ranges::find_if(x, [](double value) { return std::isinf(value); });
          wrong != x.end())
        throw Error(
            ErrorCode::input,
            fmt::format("{} is infinite", feature_name(info_, static_cast<std::size_t>(wrong - x.begin()))));
      std::ranges::copy(x, block.values.row(i));
      block.numbers.push_back((kFirstNumber + rows_.number(places_[done_ + i])) % kNumbers);
    }
    done_ += count;
    return count > 0;
  }

  void rewind() override { done_ = 0; }

 private:
  const RowBlock& rows_;
  std::span<const std::size_t> places_;
  DataInfo info_;
  std::size_t done_ = 0;
};

}  // namespace

std::uint64_t partition_seed(std::uint64_t seed, const std::string& partition) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;  // FNV-1a
  for (const char c : "stream " + partition) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

RowMeasurer::RowMeasurer(const Model& model, const Baseline& baseline, const MonitorMap* map, Run& run)
    : model_(model), baseline_(baseline), map_(map), options_(baseline.options), run_(run) {
  if (map == nullptr) return;
  if (model.info().outputs < 2 || options_.output.kind != OutputChoice::Kind::predicted)
    throw Error(ErrorCode::usage,
                fmt::format("a map asks for gamma in the logit of a row's class; model {} has {} and the "
                            "baseline is of output {}",
                            printable(model.info().name), counted(model.info().outputs, "output"),
                            output_name(options_.output)));
  map->map.check_variables(map->features.size());
  options_.keep_outputs = true;
}

std::vector<MeasuredRow> RowMeasurer::measure(const RowBlock& rows, const std::vector<std::size_t>& places,
                                              const std::string& partition) const {
  const std::uint64_t seed = seed_of_balls(baseline_, partition);
  std::vector<MeasuredRow> out;
  out.reserve(places.size());
  // Numbers ascend but for where they begin again at 0.
  const auto turn = std::ranges::find_if(places, [&](std::size_t place) {
    return (kFirstNumber + rows.number(place)) / kNumbers !=
           (kFirstNumber + rows.number(places.front())) / kNumbers;
  });
  const auto before = static_cast<std::size_t>(turn - places.begin());
  const std::span<const std::size_t> all(places);
  measure_part(rows, all.first(before), seed, out);
  measure_part(rows, all.subspan(before), seed, out);
  return out;
}

void RowMeasurer::measure_part(const RowBlock& rows, std::span<const std::size_t> places, std::uint64_t seed,
                               std::vector<MeasuredRow>& out) const {
  if (places.empty()) return;
  std::string reason;
  try {
    std::size_t next = 0;
    for (GammaRow& row : gamma_of(rows, places, seed)) {
      const std::span<const double> x(rows.values.row(places[next++]), rows.values.columns());
      const bool usable = row.gamma && std::isfinite(*row.gamma);
      std::string none = usable ? "" : "it has no gamma: " + outcome_name(row.outcome);
      std::optional<RowStability> stability;
      if (usable && map_ != nullptr) stability = stability_of(*map_, row, x);
      out.push_back({std::move(row), std::move(none), stability});
    }
    return;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    if (error.code() == ErrorCode::model && !model_answers()) throw;
    reason = error.what();
  }
  if (places.size() == 1) {
    out.push_back({GammaRow{}, reason, std::nullopt});
    return;
  }
  measure_part(rows, places.first(places.size() / 2), seed, out);
  measure_part(rows, places.subspan(places.size() / 2), seed, out);
}

std::vector<GammaRow> RowMeasurer::gamma_of(const RowBlock& rows, std::span<const std::size_t> places,
                                            std::uint64_t seed) const {
  PlacedRows source(rows, places, baseline_.features);
  Run run;
  run.seed = seed;
  run.threads = run_.threads;
  run.stop = run_.stop;
  std::vector<GammaRow> measured;
  measured.reserve(places.size());
  try {
    gamma(model_, source, options_, run, [&](const GammaRow& row) { measured.push_back(row); });
  } catch (const Error&) {
    run_.ledger.spend(run.ledger.spent());
    throw;
  }
  run_.ledger.spend(run.ledger.spent());
  return measured;
}

bool RowMeasurer::model_answers() const {
  if (baseline_.rows.empty()) return false;
  RowBlock block;
  const std::vector<double>& x = baseline_.rows.front().values;
  block.reset(0, 1, x.size());
  std::ranges::copy(x, block.values.row(0));
  const std::size_t first = 0;
  try {
    return gamma_of(block, {&first, 1}, run_.seed).size() == 1;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    return false;
  }
}

}  // namespace harmonia
