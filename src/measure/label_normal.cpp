#include <algorithm>
#include <array>
#include <cmath>

#include "asked_parts.hpp"
#include "boundary_normal.hpp"
#include "harmonia/measure/output.hpp"

namespace harmonia {
namespace {

constexpr double kFirstReach = 0.25;  // of a parallel, in steps to either side
constexpr double kWiden = 4;
constexpr int kWidenings = 4;            // so that slopes up to 64 are found
constexpr double kResolution = 0x1p-17;  // of where the boundary lies on a parallel, in steps

// An orthonormal basis whose vectors but the first are orthogonal to `along`: the columns of I − 2vvᵀ.
class AcrossBasis {
 public:
  explicit AcrossBasis(std::vector<double> along) : v_(std::move(along)) {
    v_[0] += v_[0] < 0 ? -1 : 1;
    v_ = unit(std::move(v_));
  }
  double at(std::size_t k, std::size_t i) const { return (i == k ? 1 : 0) - 2 * v_[k] * v_[i]; }
  // Σ weights[k] · vector k, the first weight being 0.
  std::vector<double> sum(std::vector<double> weights) const {
    double product = 0;
    for (std::size_t i = 0; i < v_.size(); ++i) product += weights[i] * v_[i];
    for (std::size_t i = 0; i < v_.size(); ++i) weights[i] -= 2 * product * v_[i];
    return weights;
  }

 private:
  std::vector<double> v_;
};

// A parallel of the segment at some offset, on which the boundary is looked for.
struct Parallel {
  std::size_t site = 0;
  std::size_t vector = 0;  // of the basis; 0: the site's `across`
  double offset = 0;
  double reach = 0;
  double low = 0, high = 0;
  bool bracketed = false, lost = false;

  double place() const { return low + (high - low) / 2; }
};

class Labels {
 public:
  Labels(PointAsker& asker, std::span<NormalSite> sites, double step)
      : asker_(asker),
        observer_({.kind = OutputChoice::Kind::label, .column = 0}, asker.model().info()),
        sites_(sites),
        step_(step),
        across_(sites.size()) {}

  void run() {
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      bases_.emplace_back(sites_[s].along);
      if (sites_[s].method != NormalMethod::none || sites_[s].unpaid) continue;
      sites_[s].method = NormalMethod::label;
      wanted_.push_back(s);
    }
    for (const std::size_t s : wanted_) {
      // One feature has no direction across, so that no step is taken.
      for (std::size_t i = 0; i < sites_[s].moved.size() && sites_[s].moved.size() > 1; ++i)
        feature_step(sites_[s], i, step_, asker_.model().info().scalar);
      for (std::size_t k = 1; k < sites_[s].along.size(); ++k) {
        for (const double sign : {-1.0, 1.0}) add(s, k, sign * step_);
      }
    }
    find();
    set_normals();
    // The slope of the boundary where it leans says the angle once more, at the step and at half of it.
    parallels_.clear();
    for (const std::size_t s : wanted_) {
      if (across_[s].empty() || sites_[s].unpaid) continue;
      for (const double offset : {-step_, step_, -step_ / 2, step_ / 2}) add(s, 0, offset);
    }
    find();
    set_errors();
  }

 private:
  void add(std::size_t site, std::size_t vector, double offset) {
    Parallel parallel;
    parallel.site = site;
    parallel.vector = vector;
    parallel.offset = offset;
    parallel.reach = kFirstReach * std::abs(offset);
    parallels_.push_back(parallel);
  }

  void write(const Parallel& parallel, double place, std::span<double> x) const {
    const NormalSite& site = sites_[parallel.site];
    std::copy(site.x.begin(), site.x.end(), x.begin());
    for (std::size_t i = 0; i < site.moved.size(); ++i) {
      const double to_side =
          parallel.vector == 0 ? across_[parallel.site][i] : bases_[parallel.site].at(parallel.vector, i);
      x[site.moved[i]] += site.scale[i] * (parallel.offset * to_side + place * site.along[i]);
    }
  }

  // The class at `each` places of every parallel in `open_`.
  template <class Place, class Take>
  void ask(std::size_t each, const Place& place, const Take& take) {
    std::vector<std::uint64_t> costs(sites_.size(), 0);
    for (const std::size_t p : open_) costs[parallels_[p].site] += each;
    keep_to_budget(sites_, asker_.run().ledger.left(), [&](const NormalSite& site) {
      return costs[static_cast<std::size_t>(&site - sites_.data())];
    });
    std::erase_if(open_, [&](std::size_t p) { return sites_[parallels_[p].site].unpaid; });
    ask_in_parts(
        asker_, open_.size() * each,
        [&](std::size_t i, std::span<double> x) {
          const Parallel& parallel = parallels_[open_[i / each]];
          write(parallel, place(parallel, i % each), x);
        },
        [&](std::size_t i, std::span<const double> outputs) {
          Parallel& parallel = parallels_[open_[i / each]];
          take(parallel, i % each, sites_[parallel.site], observer_.label(outputs));
        });
  }

  void find() {
    open_.resize(parallels_.size());
    for (std::size_t p = 0; p < open_.size(); ++p) open_[p] = p;
    for (int k = 0; k <= kWidenings && !open_.empty(); ++k) bracket();
    for (const std::size_t p : open_) parallels_[p].lost = true;
    open_.clear();
    for (std::size_t p = 0; p < parallels_.size(); ++p) {
      if (parallels_[p].bracketed) open_.push_back(p);
    }
    while (!open_.empty()) bisect();
  }

  // Asks for the classes at both ends of the reach; a parallel that does not change over it is widened.
  void bracket() {
    ask(
        2, [](const Parallel& parallel, std::size_t i) { return i == 0 ? -parallel.reach : parallel.reach; },
        [](Parallel& parallel, std::size_t i, const NormalSite& site, long long found) {
          if (i == 0) {
            parallel.bracketed = found == site.from;
          } else {
            parallel.bracketed &= found == site.to;
          }
          parallel.low = -parallel.reach;
          parallel.high = parallel.reach;
        });
    std::erase_if(open_, [&](std::size_t p) { return parallels_[p].bracketed; });
    for (const std::size_t p : open_) parallels_[p].reach *= kWiden;
  }

  void bisect() {
    ask(
        1, [](const Parallel& parallel, std::size_t) { return parallel.place(); },
        [](Parallel& parallel, std::size_t, const NormalSite& site, long long found) {
          if (found == site.from) {
            parallel.low = parallel.place();
          } else if (found == site.to) {
            parallel.high = parallel.place();
          } else {
            parallel.lost = true;  // a third class: here two others meet
          }
        });
    std::erase_if(open_, [&](std::size_t p) {
      const Parallel& parallel = parallels_[p];
      return parallel.lost || parallel.high - parallel.low <= kResolution * std::abs(parallel.offset) ||
             !(parallel.place() > parallel.low && parallel.place() < parallel.high);
    });
  }

  // Parallels come in pairs, one to either side.
  static double slope(const Parallel& minus, const Parallel& plus) {
    return (plus.place() - minus.place()) / (plus.offset - minus.offset);
  }

  void set_normals() {
    std::size_t next = 0;
    for (const std::size_t s : wanted_) {
      NormalSite& site = sites_[s];
      std::vector<double> slopes(site.along.size(), 0);
      double squares = 0;
      for (std::size_t k = 1; k < slopes.size(); ++k, next += 2) {
        if (parallels_[next].lost || parallels_[next + 1].lost) {
          ++site.left_out;
          continue;
        }
        slopes[k] = slope(parallels_[next], parallels_[next + 1]);
        squares += slopes[k] * slopes[k];
      }
      if (site.unpaid) continue;
      std::vector<double> leaning = bases_[s].sum(std::move(slopes));
      site.normal = site.along;
      for (std::size_t i = 0; i < leaning.size(); ++i) site.normal[i] -= leaning[i];
      site.normal = unit(std::move(site.normal));
      site.angle = std::atan2(1, std::sqrt(squares));
      site.error = site.along.size() > 1 ? 2 * kResolution : 0;
      across_[s] = unit(std::move(leaning));
    }
  }

  void set_errors() {
    for (const std::size_t s : wanted_) {
      if (sites_[s].unpaid) sites_[s].normal.clear();
    }
    for (std::size_t p = 0; p + 3 < parallels_.size(); p += 4) {
      NormalSite& site = sites_[parallels_[p].site];
      if (site.unpaid) continue;
      std::vector<double> angles{site.angle};
      for (const std::size_t pair : {p, p + 2}) {
        // Where the parallel has no boundary the angle is not known at all.
        const bool lost = parallels_[pair].lost || parallels_[pair + 1].lost;
        angles.push_back(lost ? 0 : std::atan2(1, std::abs(slope(parallels_[pair], parallels_[pair + 1]))));
      }
      site.error += estimates_error(angles);
    }
  }

  PointAsker& asker_;
  Observer observer_;
  std::span<NormalSite> sites_;
  double step_;
  std::vector<AcrossBasis> bases_;
  std::vector<std::vector<double>> across_;  // where the normal leans; empty: nowhere
  std::vector<std::size_t> wanted_, open_;   // sites; parallels that are being asked
  std::vector<Parallel> parallels_;
};

}  // namespace

void label_normals(PointAsker& asker, std::span<NormalSite> sites, double step) {
  Labels(asker, sites, step).run();
}

}  // namespace harmonia
