#include "harmonia/model/growing_trees.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harmonia/model/ball_path.hpp"
#include "tree_append.hpp"
#include "tree_prepared.hpp"

namespace harmonia {
namespace {

// All that a feature has: a field that is added does not compile until it is here.
auto fields(const Feature& feature) {
  const auto& [name, scale, lower, upper, integer, fixed, mirrored, has_scale] = feature;
  return std::tie(name, scale, lower, upper, integer, fixed, mirrored, has_scale);
}

// What is kept of a row.
struct KeptRow {
  std::vector<double> x;
  std::size_t trees = 0;     // that are in the sums
  std::size_t rounding = 0;  // Growth::rounding of the sums
  std::size_t scale = 0;     // the number of their scale
  BallSums sums;

  std::size_t bytes() const { return x.capacity() * sizeof(double) + sums.bytes(); }
  bool is_of(std::span<const double> row) const {
    return x.size() == row.size() && std::memcmp(x.data(), row.data(), row.size_bytes()) == 0;
  }
};

// The rows of one ball, which the askers of a measurement share. A row is asked for by one of them at a time.
class KeptRows {
 public:
  KeptRows(const Ball& ball, std::size_t most_bytes)
      : options_(ball.options()), schema_(ball.schema()), most_bytes_(most_bytes) {}

  bool are_of(const Ball& ball) const {
    const BallOptions& other = ball.options();
    return other.kind == options_.kind && other.radius == options_.radius &&
           other.average == options_.average &&
           std::ranges::equal(ball.schema(), schema_, {}, fields, fields);
  }

  // Where each row is kept, which does not change; null: there is no room for it.
  void find(std::span<const RowBall* const> balls, std::vector<KeptRow*>& found) {
    found.clear();
    const std::lock_guard lock(mutex_);
    for (const RowBall* ball : balls) {
      auto place = rows_.find(ball->row());
      if (place == rows_.end() && !full_) {
        place = rows_.try_emplace(ball->row()).first;
        bytes_ += sizeof *place + place->second.bytes();
      }
      found.push_back(place == rows_.end() ? nullptr : &place->second);
    }
  }

  // Counts the memory that a row takes, which was `before`, and gives it back if it is too much.
  void account(KeptRow& row, std::size_t before) {
    bytes_ += row.bytes() - before;  // whole numbers that wrap around
    if (bytes_ <= most_bytes_) return;
    full_ = true;
    bytes_ -= row.bytes();
    row = {};
    bytes_ += row.bytes();
  }

 private:
  BallOptions options_;
  Schema schema_;
  std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<bool> full_ = false;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, KeptRow> rows_;
};

// The trees so far.
class Growth {
 public:
  Growth(const TreeEnsemble& first, const TreeModelOptions& options)
      : options_(options), trees_(first), scales_(first.margins()) {
    scales_.add(first);
    set_scales();
  }

  void add(const TreeEnsemble& more) {
    LeafScales grown = scales_;
    grown.add(more);
    trees_.append(more, options_.name);
    // Sums become those of a coarser scale by a shift unless their leaves were rounded, or would be now.
    const std::vector<int> coarser = grown.exponents();
    if (coarser != exponents() && !scales_.exact(coarser)) ++rounding_;
    scales_ = std::move(grown);
    parts_.clear();
    set_scales();
  }

  std::size_t size() const { return trees_.ensemble().trees.size(); }
  bool ends_with(const TreeEnsemble& last) const { return trees_.ends_with(last); }
  const TreeAnswers& answers() const { return answers_; }

  // The trees from number `first` on, made ready when they are first asked for. Safe to call from several
  // threads.
  const PreparedTrees& part(std::size_t first) const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<PreparedTrees>& found = parts_[first];
    if (!found) found = std::make_unique<PreparedTrees>(trees_.ensemble(), options_, exponents(), first);
    return *found;
  }

  // Makes what is kept of a row fit the trees so far; it is nothing if it cannot be made so.
  void renew(KeptRow& row, std::span<const double> x) const {
    if (row.trees == 0 || row.rounding != rounding_ || !row.is_of(x)) {
      row = {};
      row.x.assign(x.begin(), x.end());
      row.rounding = rounding_;
    } else if (row.scale != scale()) {
      std::vector<int> shifts = exponents_[row.scale];
      for (std::size_t k = 0; k < shifts.size(); ++k) shifts[k] -= exponents()[k];
      row.sums.shift(shifts);
    }
    row.scale = scale();
  }

 private:
  std::size_t scale() const { return exponents_.size() - 1; }
  const std::vector<int>& exponents() const { return exponents_.back(); }

  void set_scales() {
    std::vector<int> now = scales_.exponents();
    if (exponents_.empty() || now != exponents()) exponents_.push_back(std::move(now));
    const TreeEnsemble& all = trees_.ensemble();
    answers_ = {all.base, units_of(exponents()), all.factor, options_.margin ? TreeLink{} : all.link};
  }

  TreeModelOptions options_;
  TreeAppender trees_;
  LeafScales scales_;
  std::vector<std::vector<int>> exponents_;  // of the fixed point, at every scale so far
  TreeAnswers answers_;
  std::size_t rounding_ = 0;  // how often sums could not be brought to another scale
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::unique_ptr<PreparedTrees>> parts_;
};

class GrowingAsker final : public BallAsker {
 public:
  GrowingAsker(const Growth& growth, std::size_t outputs, const Ball& ball, std::shared_ptr<KeptRows> kept)
      : growth_(growth), ball_(ball), kept_(std::move(kept)), answerer_(growth.answers(), outputs) {}

  void evaluate(std::span<const RowBall* const> rows, std::span<BallAnswer> answers) override {
    kept_->find(rows, found_);
    walked_in_full_.clear();
    if (std::ranges::count(found_, nullptr) > 0) walked_in_full_.resize(rows.size());
    bytes_.clear();
    order_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      bytes_.push_back(found_[i] == nullptr ? 0 : found_[i]->bytes());
      growth_.renew(row(i), rows[i]->x());
      if (row(i).trees < growth_.size()) order_.push_back(i);
    }
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return row(i).trees; });
    for (std::size_t first = 0; first < order_.size();) {
      const std::size_t from = row(order_[first]).trees;
      std::size_t end = first;
      while (end < order_.size() && row(order_[end]).trees == from) ++end;
      walk(from, rows, std::span(order_).subspan(first, end - first));
      first = end;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      answers[i].refused = row(i).trees < growth_.size();
      if (!answers[i].refused) answerer_.answer(*rows[i], row(i).sums.view(numbers_), answers[i]);
      if (found_[i] != nullptr) kept_->account(*found_[i], bytes_[i]);
    }
  }

 private:
  KeptRow& row(std::size_t i) { return found_[i] == nullptr ? walked_in_full_[i] : *found_[i]; }

  // Counts the trees from number `from` on.
  void walk(std::size_t from, std::span<const RowBall* const> rows, std::span<const std::size_t> which) {
    auto [walker, fresh] = walkers_.try_emplace(from);
    if (fresh) walker->second = growth_.part(from).balls.walker(ball_);
    if (walker->second == nullptr) return;
    balls_.clear();
    for (const std::size_t i : which) balls_.push_back(rows[i]);
    walker->second->walk(balls_, [&](std::size_t place, const BallSumsView& sums) {
      KeptRow& counted = row(which[place]);
      counted.trees = 0;  // if there is no memory for more, what is kept counts for nothing
      counted.sums.add(sums);
      counted.trees = growth_.size();
    });
  }

  const Growth& growth_;
  const Ball& ball_;
  std::shared_ptr<KeptRows> kept_;
  BallAnswerer answerer_;
  std::map<std::size_t, std::unique_ptr<TreeBallWalker>> walkers_;  // by their first tree
  std::vector<KeptRow*> found_;
  std::vector<KeptRow> walked_in_full_;  // those that there is no room for
  std::vector<std::size_t> bytes_, order_, numbers_;
  std::vector<const RowBall*> balls_;
};

class GrowingModel final : public GrowingTrees, private BallPath {
 public:
  GrowingModel(const TreeEnsemble& first, const TreeModelOptions& options, std::size_t kept_bytes)
      : info_(tree_model_info(first, options)),
        fast_path_(options.fast_path),
        kept_bytes_(kept_bytes),
        growth_(first, options) {}

  void add(const TreeEnsemble& more) override {
    check_trees(more, info_.name);
    growth_.add(more);
  }
  std::size_t size() const override { return growth_.size(); }
  bool ends_with(const TreeEnsemble& last) const override {
    check_trees(last, info_.name);
    return growth_.ends_with(last);
  }
  const ModelInfo& info() const override { return info_; }
  void evaluate(RowsView x, MutableRowsView y) const override { growth_.part(0).evaluate(x, y); }
  const BallPath* ball_path() const override { return fast_path_ ? this : nullptr; }

 private:
  std::string name() const override { return "trees"; }

  std::unique_ptr<BallAsker> open(const Ball& ball) const override {
    if (!TreeBalls::answers_ball(ball)) return nullptr;
    const std::lock_guard lock(mutex_);
    if (!kept_ || !kept_->are_of(ball)) kept_ = std::make_shared<KeptRows>(ball, kept_bytes_);
    return std::make_unique<GrowingAsker>(growth_, info_.outputs, ball, kept_);
  }

  ModelInfo info_;
  bool fast_path_;
  std::size_t kept_bytes_;
  Growth growth_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<KeptRows> kept_;
};

}  // namespace

std::unique_ptr<GrowingTrees> make_growing_trees(const TreeEnsemble& first, const TreeModelOptions& options,
                                                 std::size_t kept_bytes) {
  check_trees(first, options.name);
  return std::make_unique<GrowingModel>(first, options, kept_bytes);
}

}  // namespace harmonia
