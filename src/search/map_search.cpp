#include "harmonia/search/map_search.hpp"

#include <algorithm>

namespace harmonia {
namespace {

// The rows of a source that have a gamma, with their numbers.
class MeasuredRows final : public RowSource {
 public:
  MeasuredRows(RowSource& data, const MapRows& rows) : data_(data), info_(data.info()) {
    for (const MapRow& row : rows.rows) {
      if (row.measured()) numbers_.push_back(row.row);
    }
    info_.rows = numbers_.size();
  }

  const DataInfo& info() const override { return info_; }

  bool read(RowBlock& block, std::size_t limit) override {
    while (given_ < numbers_.size() && data_.read(block, limit)) {
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < block.values.rows(); ++i) {
        if (std::ranges::binary_search(numbers_, block.number(i))) places.push_back(i);
      }
      given_ += places.size();
      if (places.empty()) continue;
      if (places.size() < block.values.rows()) block.keep(places);
      return true;
    }
    return false;
  }

  void rewind() override {
    data_.rewind();
    given_ = 0;
  }

 private:
  RowSource& data_;
  DataInfo info_;
  std::vector<std::size_t> numbers_;  // ascending
  std::size_t given_ = 0;
};

// The part of a run that may take so many evaluations.
Run part_of(const Run& run, std::uint64_t evaluations) {
  return {.seed = run.seed,
          .threads = run.threads,
          .ledger = Ledger(evaluations),
          .progress = run.progress,
          .stop = run.stop};
}

}  // namespace

MapRows measure_and_search(const Model& model, RowSource& data, const GammaOptions& options,
                           const AttackOptions& search, Run& run) {
  const std::size_t inputs = data.info().inputs;
  Run first = part_of(run, map_share(options, inputs, attack_cost(search, inputs), run.ledger.left()));
  MapRows rows = map_rows(model, data, options, search.steps, first);
  run.ledger.spend(first.ledger.spent());
  data.rewind();
  MeasuredRows measured(data, rows);
  std::vector<MapSearch> searches;
  attack(model, measured, search, run, [&](const AttackRow& row) {
    if (row.outcome != AttackOutcome::budget)
      searches.push_back({row.row, !row.success, row.last_logit - row.first_logit});
  });
  data.rewind();
  enter_searches(rows, searches);
  return rows;
}

}  // namespace harmonia
