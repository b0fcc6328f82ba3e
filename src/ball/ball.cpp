#include "harmonia/ball/ball.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "harmonia/ball/quadrature.hpp"
#include "harmonia/ball/rotations.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kSolidRadii = 3;
constexpr std::size_t kEnumeratedSigns = 20;

struct KindName {
  std::string_view name;
  BallKind kind;
  enum class Count { none, optional, required } count;
};

constexpr std::array kKinds{
    KindName{"simplex", BallKind::simplex, KindName::Count::none},
    KindName{"anti", BallKind::anti_simplex, KindName::Count::none},
    KindName{"simplex+anti", BallKind::simplex_pairs, KindName::Count::none},
    KindName{"cross", BallKind::cross, KindName::Count::none},
    KindName{"one-hot", BallKind::one_hot, KindName::Count::none},
    KindName{"rotated", BallKind::rotated, KindName::Count::required},
    KindName{"rotated-simplex", BallKind::rotated_simplex, KindName::Count::required},
    KindName{"rademacher", BallKind::rademacher, KindName::Count::optional},
    KindName{"random", BallKind::random, KindName::Count::required},
    KindName{"random-pairs", BallKind::random_pairs, KindName::Count::required},
    KindName{"gaussian", BallKind::gaussian, KindName::Count::required},
    KindName{"pixel", BallKind::pixel, KindName::Count::none},
    KindName{"patch", BallKind::patch, KindName::Count::required},
    KindName{"listed", BallKind::listed, KindName::Count::none},
};

bool is_plain(const Schema& schema) {
  for (const Feature& feature : schema) {
    if (feature.scale != 1 || feature.bounded() || feature.integer || feature.fixed) return false;
  }
  return true;
}

bool only_scaled(const Schema& schema) {
  return std::none_of(schema.begin(), schema.end(),
                      [](const Feature& feature) { return feature.bounded() || feature.integer; });
}

void make_geometry(std::size_t moved, Average average, BallGeometry& made) {
  if (average == Average::solid) {
    solid_ball_rule(moved, kSolidRadii, made.radii, made.weights);
  } else {
    made.radii = made.weights = {1.0};
  }
  const auto n = static_cast<double>(moved);
  made.own = std::sqrt((n + 1) / n);
  made.rest = -1 / (std::sqrt(n) * (1 + std::sqrt(n + 1)));
  made.last = -1 / std::sqrt(n);
}

}  // namespace

struct BallCache {
  std::mutex mutex;
  std::map<std::size_t, BallGeometry> geometries;
  // That of most rows, which are asked for one by one: it is found without the mutex.
  std::atomic<const std::pair<const std::size_t, BallGeometry>*> last = nullptr;
  std::map<std::size_t, Rotations> rotations;
};

BallOptions parse_ball(const std::string& text) {
  const std::string_view all = text;
  const std::size_t colon = all.find(':');
  const std::string_view name = all.substr(0, colon);
  for (const KindName& known : kKinds) {
    if (name != known.name || known.kind == BallKind::listed) continue;
    BallOptions options;
    options.kind = known.kind;
    if (colon == std::string_view::npos) {
      if (known.count != KindName::Count::required) return options;
      throw Error(ErrorCode::usage, fmt::format("ball {} needs a count, as in {}:8", name, name));
    }
    const std::string_view number = all.substr(colon + 1);
    const char* end = number.data() + number.size();
    if (known.count == KindName::Count::none ||
        std::from_chars(number.data(), end, options.count) != std::from_chars_result{end, std::errc{}} ||
        options.count == 0) {
      throw Error(ErrorCode::usage,
                  fmt::format("ball '{}': '{}' after the colon; expected {}", text, number,
                              known.count == KindName::Count::none ? "no count" : "a whole number above 0"));
    }
    return options;
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("ball '{}' is not known; expected simplex, anti, simplex+anti, cross, one-hot, "
                  "rotated:K, rotated-simplex:K, rademacher, random:N, random-pairs:N, gaussian:N, or of "
                  "images pixel or patch:K",
                  text));
}

std::string ball_name(const BallOptions& options) {
  for (const KindName& known : kKinds) {
    if (options.kind != known.kind) continue;
    if (options.count == 0) return std::string(known.name);
    return fmt::format("{}:{}", known.name, options.count);
  }
  return {};
}

Ball::Ball(BallOptions options, Schema schema, std::uint64_t seed)
    : options_(std::move(options)),
      schema_(std::move(schema)),
      seed_(seed),
      plain_(is_plain(schema_)),
      cache_(std::make_shared<BallCache>()) {
  if (!(options_.radius > 0) || !std::isfinite(options_.radius)) {
    throw Error(ErrorCode::usage,
                fmt::format("radius is {}; expected a finite number above 0", options_.radius));
  }
  if (options_.count > kMostUnits) {
    throw Error(ErrorCode::usage,
                fmt::format("ball {}: expected a count of at most {}", ball_name(options_), kMostUnits));
  }
  if (options_.kind == BallKind::listed && options_.directions.rows() == 0) {
    throw Error(ErrorCode::usage, "the ball lists no directions; expected at least one row");
  }
  if (options_.blocks() && options_.image.values() == 0) {
    throw Error(ErrorCode::usage, fmt::format("ball {} moves the pixels of images; the rows are no images",
                                              ball_name(options_)));
  }
  if (plain_) schema_ = {};
  if (!plain_ && only_scaled(schema_)) {
    for (const Feature& feature : schema_) scales_.push_back(feature.scale);
  }
}

BallShape Ball::shape(std::size_t moved) const {
  BallShape shape;
  shape.units = options_.count;
  shape.radii = options_.average == Average::solid ? kSolidRadii : 1;
  switch (options_.kind) {
    case BallKind::simplex:
    case BallKind::anti_simplex:
      shape.paired = false;
      [[fallthrough]];
    case BallKind::simplex_pairs:
      shape.units = moved + 1;
      shape.one_feature = true;
      break;
    case BallKind::cross:
      shape.units = moved;
      shape.one_feature = true;
      break;
    case BallKind::one_hot:
      shape.units = 2 * moved;
      shape.paired = false;
      break;
    case BallKind::rotated_simplex:
      shape.paired = false;
      [[fallthrough]];
    case BallKind::rotated:
      shape.units = options_.count * (moved + 1);
      break;
    case BallKind::rademacher:
      shape.endless = options_.count != 0 || moved > kEnumeratedSigns;
      if (!shape.endless) shape.units = moved == 0 ? 0 : std::uint64_t{1} << (moved - 1);
      break;
    case BallKind::random:
      shape.paired = false;
      shape.endless = true;
      break;
    case BallKind::random_pairs:
    case BallKind::gaussian:
      shape.endless = true;
      break;
    case BallKind::pixel:
    case BallKind::patch:
      shape.units = ImageBlocks(options_.image, options_.block_side()).count();
      break;
    case BallKind::listed:
      shape.units = options_.directions.rows();
      break;
  }
  return shape;
}

bool Ball::shares_displacements() const {
  const BallKind kind = options_.kind;
  return (plain_ || !scales_.empty()) &&
         (kind == BallKind::rotated || kind == BallKind::rotated_simplex || kind == BallKind::listed);
}

const BallGeometry& Ball::geometry(std::size_t moved) const {
  if (const auto* last = cache_->last.load(std::memory_order_acquire);
      last != nullptr && last->first == moved)
    return last->second;
  const std::lock_guard lock(cache_->mutex);
  const auto [found, is_new] = cache_->geometries.try_emplace(moved);
  BallGeometry& made = found->second;
  if (is_new) make_geometry(moved, options_.average, made);
  cache_->last.store(&*found, std::memory_order_release);
  return made;
}

const Rotations& Ball::rotations(std::size_t dimension) const {
  const std::lock_guard lock(cache_->mutex);
  const auto found = cache_->rotations.find(dimension);
  if (found != cache_->rotations.end()) return found->second;
  return cache_->rotations.try_emplace(dimension, seed_, options_.count, dimension).first->second;
}

}  // namespace harmonia
