#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "asked_parts.hpp"
#include "boundary_normal.hpp"

namespace harmonia {
namespace {

// A change between neighbouring points that is this share of the one over the whole step is a jump.
constexpr double kJump = 0.05;

// How far `to` is ahead of `from`.
double margin(const NormalSite& site, std::span<const double> outputs) {
  if (outputs.size() == 1) return site.to == 1 ? 2 * outputs[0] - 1 : 1 - 2 * outputs[0];
  return outputs[static_cast<std::size_t>(site.to)] - outputs[static_cast<std::size_t>(site.from)];
}

double size_of(const NormalSite& site, std::span<const double> outputs) {
  if (outputs.size() == 1) return 1;
  return std::max(std::abs(outputs[static_cast<std::size_t>(site.to)]),
                  std::abs(outputs[static_cast<std::size_t>(site.from)]));
}

// The distance between x ± length·direction along the direction, as the model's type has these points.
double step_taken(const NormalSite& site, std::span<const double> direction, double length, Scalar scalar) {
  double sum = 0;
  for (std::size_t i = 0; i < site.moved.size(); ++i) {
    const double x = site.x[site.moved[i]], move = length * direction[i] * site.scale[i];
    sum += direction[i] * (in_type(x + move, scalar) - in_type(x - move, scalar)) / site.scale[i];
  }
  return sum;
}

class Margins {
 public:
  Margins(PointAsker& asker, std::span<NormalSite> sites, bool automatic, double step)
      : asker_(asker),
        scalar_(asker.model().info().scalar),
        sites_(sites),
        automatic_(automatic),
        step_(step),
        found_(sites.size()) {}

  void run() {
    look_for_jumps();
    differentiate();
    check();
  }

 private:
  struct Found {
    double noise = 0;        // of the margin: what it changes by between neighbouring points, or rounding
    double slope_along = 0;  // at the step
    std::vector<double> gradient, across;
    std::size_t first = 0;  // of the site's points
  };

  bool wanted(const NormalSite& site) const {
    return site.method == NormalMethod::margin && !site.unpaid && !site.flat;
  }

  // Asks about count(site) points of every site that is wanted; write and take get site and point.
  template <class Count, class Write, class Take>
  void ask(const Count& count, const Write& write, const Take& take) {
    keep_to_budget(sites_, asker_.run().ledger.left(),
                   [&](const NormalSite& site) { return wanted(site) ? count(site) : 0; });
    std::vector<std::size_t> asked, firsts;
    std::size_t points = 0;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (!wanted(sites_[s])) continue;
      asked.push_back(s);
      firsts.push_back(points);
      points += count(sites_[s]);
    }
    const auto place = [&](std::size_t i) {
      return static_cast<std::size_t>(std::upper_bound(firsts.begin(), firsts.end(), i) - firsts.begin()) - 1;
    };
    ask_in_parts(
        asker_, points,
        [&](std::size_t i, std::span<double> x) {
          const std::size_t p = place(i);
          write(asked[p], i - firsts[p], x);
        },
        [&](std::size_t i, std::span<const double> outputs) {
          const std::size_t p = place(i);
          take(asked[p], i - firsts[p], outputs);
        });
  }

  void look_for_jumps() {
    for (NormalSite& site : sites_) site.method = NormalMethod::margin;
    std::vector<std::array<double, 4>> seen(sites_.size());
    ask([](const NormalSite&) { return std::size_t{4}; },
        [&](std::size_t s, std::size_t i, std::span<double> x) {
          const NormalSite& site = sites_[s];
          if (i < 2) {
            const std::vector<double>& next = i == 0 ? site.low : site.high;
            std::copy(next.begin(), next.end(), x.begin());
          } else {
            offset_point(site, site.along, i == 2 ? -step_ : step_, x);
          }
        },
        [&](std::size_t s, std::size_t i, std::span<const double> outputs) {
          seen[s][i] = margin(sites_[s], outputs);
          const double epsilon = scalar_ == Scalar::float32 ? std::numeric_limits<float>::epsilon()
                                                            : std::numeric_limits<double>::epsilon();
          if (i == 0) found_[s].noise = epsilon * size_of(sites_[s], outputs);
        });
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      NormalSite& site = sites_[s];
      if (!wanted(site)) continue;
      const double jump = std::abs(seen[s][1] - seen[s][0]), rise = std::abs(seen[s][3] - seen[s][2]);
      if (automatic_ && jump > kJump * rise) {
        site.method = NormalMethod::none;
        continue;
      }
      found_[s].noise = std::max(found_[s].noise, jump);
      found_[s].slope_along = (seen[s][3] - seen[s][2]) / step_taken(site, site.along, step_, scalar_);
    }
  }

  void differentiate() {
    for (std::size_t s = 0; s < sites_.size(); ++s) found_[s].gradient.assign(sites_[s].moved.size(), 0);
    ask([](const NormalSite& site) { return 2 * site.moved.size(); },
        [&](std::size_t s, std::size_t i, std::span<double> x) {
          const NormalSite& site = sites_[s];
          std::copy(site.x.begin(), site.x.end(), x.begin());
          x[site.moved[i / 2]] += (i % 2 == 0 ? -step_ : step_) * site.scale[i / 2];
        },
        [&](std::size_t s, std::size_t i, std::span<const double> outputs) {
          const double value = margin(sites_[s], outputs);
          found_[s].gradient[i / 2] += i % 2 == 0 ? -value : value;
        });
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (wanted(sites_[s])) set_normal(sites_[s], found_[s]);
    }
  }

  void set_normal(NormalSite& site, Found& found) const {
    for (std::size_t i = 0; i < site.moved.size(); ++i)
      found.gradient[i] /= feature_step(site, i, step_, scalar_);
    double along = 0, across = 0;
    for (std::size_t i = 0; i < site.along.size(); ++i) along += found.gradient[i] * site.along[i];
    std::vector<double> rest(site.along.size());
    for (std::size_t i = 0; i < site.along.size(); ++i) {
      rest[i] = found.gradient[i] - along * site.along[i];
      across += rest[i] * rest[i];
    }
    site.normal = unit(found.gradient);
    site.flat = site.normal.empty();
    if (site.flat) return;
    site.angle = std::atan2(std::abs(along), std::sqrt(across));
    if (site.moved.size() > 1) found.across = unit(std::move(rest));
  }

  // The slopes along and across the segment say the angle once more, at the step and at half of it.
  void check() {
    std::vector<std::array<double, 6>> seen(sites_.size());
    const auto direction = [&](std::size_t s, std::size_t i) -> const std::vector<double>& {
      return i < 2 ? sites_[s].along : found_[s].across;
    };
    const auto length = [&](std::size_t i) { return i < 4 ? step_ / 2 : step_; };
    ask(
        [&](const NormalSite& site) {
          return found_[static_cast<std::size_t>(&site - sites_.data())].across.empty() ? 0U : std::size_t{6};
        },
        [&](std::size_t s, std::size_t i, std::span<double> x) {
          offset_point(sites_[s], direction(s, i), i % 2 == 0 ? -length(i) : length(i), x);
        },
        [&](std::size_t s, std::size_t i, std::span<const double> outputs) {
          seen[s][i] = margin(sites_[s], outputs);
        });
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      NormalSite& site = sites_[s];
      if (!wanted(site)) {
        if (site.unpaid) site.normal.clear();
        continue;
      }
      double slope = 0;
      for (std::size_t i = 0; i < site.along.size(); ++i) slope += found_[s].gradient[i] * site.normal[i];
      site.error = 4 * found_[s].noise / (step_ * slope);
      if (found_[s].across.empty()) continue;
      const auto at = [&](std::size_t i) {
        return (seen[s][i + 1] - seen[s][i]) / step_taken(site, direction(s, i), length(i), scalar_);
      };
      const std::array<double, 3> angles{site.angle,
                                         std::atan2(std::abs(found_[s].slope_along), std::abs(at(4))),
                                         std::atan2(std::abs(at(0)), std::abs(at(2)))};
      site.error += estimates_error(angles);
    }
  }

  PointAsker& asker_;
  Scalar scalar_;
  std::span<NormalSite> sites_;
  bool automatic_;
  double step_;
  std::vector<Found> found_;
};

}  // namespace

void margin_normals(PointAsker& asker, std::span<NormalSite> sites, bool automatic, double step) {
  Margins(asker, sites, automatic, step).run();
}

}  // namespace harmonia
