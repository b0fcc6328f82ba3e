#include "segment_crossings.hpp"

#include <algorithm>
#include <cmath>

#include "asked_parts.hpp"
#include "harmonia/measure/output.hpp"

namespace harmonia {
namespace {

constexpr std::uint64_t kMostHalvings = 128;  // near t = 0 doubles go on for a thousand
constexpr std::size_t kMostCrossings = 1000;  // of one segment, from which on no bracket is split

bool same_number(double a, double b, Scalar scalar) {
  return scalar == Scalar::float32 ? static_cast<float>(a) == static_cast<float>(b) : a == b;
}

// Whether the model cannot tell the points at s and t.
bool same_point(const Segment& segment, double s, double t, Scalar scalar) {
  for (std::size_t j = 0; j < segment.a.size(); ++j) {
    if (std::isnan(segment.a[j])) continue;
    if (!same_number(segment.at(s, j), segment.at(t, j), scalar)) return false;
  }
  return true;
}

// The middle of the bracket that has to be asked; the bracket is narrowed as far as its ends' classes tell.
// 0 if nothing is left to ask.
double next_middle(const Segment& segment, Bracket& bracket, Scalar scalar) {
  if (bracket.evaluations >= kMostHalvings) return 0;
  for (;;) {
    const double middle = bracket.low + (bracket.high - bracket.low) / 2;
    if (!(middle > bracket.low && middle < bracket.high)) return 0;
    if (same_point(segment, middle, bracket.low, scalar)) {
      bracket.low = middle;
    } else if (same_point(segment, middle, bracket.high, scalar)) {
      bracket.high = middle;
    } else {
      return middle;
    }
  }
}

class Bisection {
 public:
  Bisection(PointAsker& asker, std::span<const Segment> segments, std::vector<SegmentLook>& looks)
      : asker_(asker),
        scalar_(asker.model().info().scalar),
        observer_({.kind = OutputChoice::Kind::label, .column = 0}, asker.model().info()),
        segments_(segments),
        looks_(looks) {}

  void run() {
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      for (std::size_t k = 0; k < looks_[i].brackets.size(); ++k) open_.push_back({i, k, 0});
    }
    while (!open_.empty()) {
      plan();
      ask_in_parts(
          asker_, open_.size(),
          [&](std::size_t i, std::span<double> x) { segments_[open_[i].segment].point(open_[i].middle, x); },
          [&](std::size_t i, std::span<const double> outputs) { halve(open_[i], observer_.label(outputs)); });
      open_.insert(open_.end(), split_.begin(), split_.end());
      split_.clear();
    }
  }

 private:
  struct Open {
    std::size_t segment, bracket;
    double middle;
  };

  Bracket& bracket_of(const Open& open) { return looks_[open.segment].brackets[open.bracket]; }

  // Keeps the brackets that have a middle to ask, as many as the budget allows.
  void plan() {
    std::size_t kept = 0;
    const std::uint64_t left = asker_.run().ledger.left();
    for (Open open : open_) {
      Bracket& bracket = bracket_of(open);
      open.middle = next_middle(segments_[open.segment], bracket, scalar_);
      if (open.middle == 0) continue;
      bracket.unfinished = kept >= left;
      if (!bracket.unfinished) open_[kept++] = open;
    }
    open_.resize(kept);
  }

  void halve(const Open& open, long long found) {
    std::vector<Bracket>& all = looks_[open.segment].brackets;
    Bracket& bracket = all[open.bracket];
    ++bracket.evaluations;
    if (found == bracket.from) {
      bracket.low = open.middle;
      return;
    }
    const Bracket rest{open.middle, bracket.high, found, bracket.to, 0, false};
    bracket.high = open.middle;
    bracket.to = found;
    if (found == rest.to) return;
    if (all.size() >= kMostCrossings) {
      ++looks_[open.segment].left_out;
      return;
    }
    all.push_back(rest);  // a third class between: two crossings
    split_.push_back({open.segment, all.size() - 1, 0});
  }

  PointAsker& asker_;
  Scalar scalar_;
  Observer observer_;
  std::span<const Segment> segments_;
  std::vector<SegmentLook>& looks_;
  std::vector<Open> open_, split_;
};

}  // namespace

double Segment::at(double t, std::size_t j) const {
  const double from = a[j], to = b[j];
  if (t == 1 || from == to) return to;
  const double x = from + t * (to - from);
  return from < to ? std::min(x, to) : std::max(x, to);
}

void Segment::point(double t, std::span<double> x) const {
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = at(t, j);
}

std::vector<SegmentLook> find_crossings(PointAsker& asker, std::span<const Segment> segments,
                                        std::size_t steps) {
  std::vector<SegmentLook> looks(segments.size());
  const Observer observer({.kind = OutputChoice::Kind::label, .column = 0}, asker.model().info());
  const std::size_t each = steps + 1;
  const std::size_t allowed = std::min<std::uint64_t>(segments.size(), asker.run().ledger.left() / each);
  const auto t_of = [&](std::size_t k) { return static_cast<double>(k) / static_cast<double>(steps); };
  long long before = 0;
  ask_in_parts(
      asker, allowed * each,
      [&](std::size_t i, std::span<double> x) { segments[i / each].point(t_of(i % each), x); },
      [&](std::size_t i, std::span<const double> outputs) {
        SegmentLook& look = looks[i / each];
        const std::size_t k = i % each;
        const long long found = observer.label(outputs);
        if (k == 0) look.at_a = found;
        if (k > 0 && found != before)
          look.brackets.push_back({t_of(k - 1), t_of(k), before, found, 0, false});
        before = look.at_b = found;
        look.asked = true;
        ++look.evaluations;
      });
  Bisection(asker, segments, looks).run();
  for (SegmentLook& look : looks) {
    std::sort(look.brackets.begin(), look.brackets.end(),
              [](const Bracket& a, const Bracket& b) { return a.low < b.low; });
  }
  return looks;
}

}  // namespace harmonia
