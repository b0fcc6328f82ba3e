#include "gamma_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostCells = 40000;     // of a grid, for each model
constexpr std::size_t kMostScattered = 5000;  // rows drawn one by one …
constexpr std::size_t kMostDense = 20000;     // … or, where they lie densely, as the area nearest to each
constexpr double kRowsPerCell = 4;            // of scattered rows, on average
constexpr double kDense = 0.95;               // of the cells have a row: of rows drawn evenly, 98 %
constexpr std::size_t kBinsAcross = 120;      // at most
constexpr double kWide = 1.5;                 // a picture is so much wider than high
constexpr std::size_t kMostOnLine = 2000;
constexpr std::size_t kFewestBins = 8, kMostBins = 40;
constexpr double kRegular = 1e-6;  // of a range: how far a regular grid's lines may be off
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

// Enough digits for a pixel.
Json rounded(double value, int digits = 6) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.{}g}", value, digits);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Json rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

// The same for coordinates, however far from 0 they lie.
Json placed(const std::vector<double>& values) {
  double least = HUGE_VAL, largest = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  const double offset = std::max(std::abs(least), std::abs(largest)), range = largest - least;
  const double lost = range > 0 && std::isfinite(range) ? std::ceil(std::log10(offset / range)) : 0;
  const int digits = std::clamp(6 + static_cast<int>(lost), 6, 17);
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value, digits));
  return list;
}

// A list in which nothing stands is left out.
bool any(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

Json model_json(const DrawnModel& model) {
  Json json{{"name", model.name}, {"gamma", rounded(model.gamma)}};
  if (any(model.decided_class)) json["class"] = rounded(model.decided_class);
  if (any(model.value)) json["value"] = rounded(model.value);
  return json;
}

// Lines of a regular grid along one axis.
struct Axis {
  double first = 0, last = 0;
  std::size_t lines = 0;

  double step() const { return (last - first) / static_cast<double>(lines - 1); }
  std::size_t nearest(double value) const {
    return static_cast<std::size_t>(
        std::lround(std::clamp((value - first) / step(), 0.0, static_cast<double>(lines - 1))));
  }
};

std::optional<Axis> regular_axis(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 2) return std::nullopt;
  const Axis axis{values.front(), values.back(), values.size()};
  if (!std::isfinite(axis.step()) || axis.step() <= 0) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = axis.first + axis.step() * static_cast<double>(i);
    if (std::abs(values[i] - expected) > kRegular * axis.step()) return std::nullopt;
  }
  return axis;
}

// Where each row goes: a cell of a grid of `across` × `up`, or none.
struct Cells {
  std::size_t across = 0, up = 0;
  std::vector<std::size_t> of_row;
};

// What the rows of a cell come to: the mean of numbers, the most frequent of classes.
std::vector<double> means(const Cells& cells, const std::vector<double>& values) {
  std::vector<double> sums(cells.across * cells.up), counts(sums.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    sums[cells.of_row[i]] += values[i];
    counts[cells.of_row[i]] += 1;
  }
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = counts[c] > 0 ? sums[c] / counts[c] : kNoNumber;
  return sums;
}

std::vector<double> modes(const Cells& cells, const std::vector<double>& classes) {
  std::vector<std::map<double, std::size_t>> counts(cells.across * cells.up);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (std::isfinite(classes[i])) ++counts[cells.of_row[i]][classes[i]];
  }
  std::vector<double> result(counts.size(), kNoNumber);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto most = std::max_element(counts[c].begin(), counts[c].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != counts[c].end()) result[c] = most->first;
  }
  return result;
}

Json models_json(const DrawnRows& rows, const Cells* cells) {
  Json list = Json::array();
  for (const DrawnModel& model : rows.models) {
    if (cells == nullptr) {
      list.push_back(model_json(model));
    } else {
      list.push_back(model_json({model.name, modes(*cells, model.decided_class), means(*cells, model.gamma),
                                 means(*cells, model.value)}));
    }
  }
  return list;
}

Json grid_json(const DrawnRows& rows, const Cells& cells, double left, double right, double bottom,
               double top) {
  return {{"kind", "grid"},
          {"rows", rows.x.size()},
          {"across", cells.across},
          {"up", cells.up},
          {"x", {left, right}},
          {"y", {bottom, top}},
          {"models", models_json(rows, &cells)}};
}

std::optional<Json> regular_grid(const DrawnRows& rows) {
  const auto x = regular_axis(rows.x), y = regular_axis(rows.y);
  if (!x || !y || x->lines * y->lines != rows.x.size()) return std::nullopt;
  const auto cell = static_cast<std::size_t>(
      std::ceil(std::sqrt(static_cast<double>(rows.x.size()) / static_cast<double>(kMostCells))));
  Cells cells{(x->lines + cell - 1) / cell, (y->lines + cell - 1) / cell, {}};
  std::vector<bool> seen(rows.x.size());
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const std::size_t column = x->nearest(rows.x[i]), line = y->nearest(rows.y[i]);
    if (seen[line * x->lines + column]) return std::nullopt;
    seen[line * x->lines + column] = true;
    cells.of_row.push_back(line / cell * cells.across + column / cell);
  }
  // A point of the grid stands in the middle of its cell.
  const double left = x->first - x->step() / 2, bottom = y->first - y->step() / 2;
  Json json = grid_json(rows, cells, left, left + x->step() * static_cast<double>(cells.across * cell),
                        bottom, bottom + y->step() * static_cast<double>(cells.up * cell));
  if (cell > 1) json["cell"] = cell;
  return json;
}

// Cells over the rows' box, so many that each has a few rows.
struct Box {
  Cells cells;
  double left = 0, right = 0, bottom = 0, top = 0;
};

Box box_of(const DrawnRows& rows) {
  const auto [left, right] = std::minmax_element(rows.x.begin(), rows.x.end());
  const auto [bottom, top] = std::minmax_element(rows.y.begin(), rows.y.end());
  const auto bin = [](double value, double low, double high, std::size_t bins) {
    const double share = high > low ? (value - low) / (high - low) : 0;
    return std::min(bins - 1, static_cast<std::size_t>(share * static_cast<double>(bins)));
  };
  const double wanted = std::sqrt(static_cast<double>(rows.x.size()) / kRowsPerCell * kWide);
  const std::size_t across = std::clamp(static_cast<std::size_t>(wanted), std::size_t{2}, kBinsAcross);
  const auto up = static_cast<std::size_t>(std::max(2.0, static_cast<double>(across) / kWide));
  Box box{{across, up, {}}, *left, *right, *bottom, *top};
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    box.cells.of_row.push_back(bin(rows.y[i], *bottom, *top, up) * across +
                               bin(rows.x[i], *left, *right, across));
  }
  return box;
}

bool dense(const Cells& cells) {
  std::vector<bool> filled(cells.across * cells.up);
  for (const std::size_t cell : cells.of_row) filled[cell] = true;
  const auto count = static_cast<double>(std::count(filled.begin(), filled.end(), true));
  return count >= kDense * static_cast<double>(filled.size());
}

Json binned(const DrawnRows& rows, const Box& box) {
  Json json = grid_json(rows, box.cells, box.left, box.right, box.bottom, box.top);
  json["binned"] = true;
  return json;
}

Json line(const DrawnRows& rows) {
  std::vector<std::size_t> order(rows.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows.x[a] < rows.x[b]; });
  const std::size_t together = (order.size() + kMostOnLine - 1) / kMostOnLine;
  Cells cells{(order.size() + together - 1) / together, 1, std::vector<std::size_t>(order.size())};
  for (std::size_t place = 0; place < order.size(); ++place) cells.of_row[order[place]] = place / together;
  Json json{{"kind", "line"}, {"rows", rows.x.size()}, {"x", placed(means(cells, rows.x))}};
  if (together > 1) json["cell"] = together;
  json["models"] = models_json(rows, &cells);
  return json;
}

// Rows with a missing value have no place.
DrawnRows placed(const DrawnRows& rows) {
  DrawnRows result;
  for (const DrawnModel& model : rows.models) result.models.push_back({model.name, {}, {}, {}});
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    if (!std::isfinite(rows.x[i]) || (!rows.y.empty() && !std::isfinite(rows.y[i]))) continue;
    result.x.push_back(rows.x[i]);
    if (!rows.y.empty()) result.y.push_back(rows.y[i]);
    for (std::size_t m = 0; m < rows.models.size(); ++m) {
      result.models[m].decided_class.push_back(rows.models[m].decided_class[i]);
      result.models[m].gamma.push_back(rows.models[m].gamma[i]);
      result.models[m].value.push_back(rows.models[m].value[i]);
    }
  }
  return result;
}

Json bins(const std::vector<double>& values, double from, double to) {
  // By the cube root, as is usual; a handful of rows are not spread over bins of one each.
  const auto root = static_cast<std::size_t>(std::lround(2 * std::cbrt(static_cast<double>(values.size()))));
  const std::size_t number = std::clamp(root, kFewestBins, kMostBins);
  std::vector<std::size_t> counts(number);
  for (const double value : values) {
    const double share = to > from ? (value - from) / (to - from) : 0;
    ++counts[std::min(number - 1,
                      static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(number)))];
  }
  return {{"from", from}, {"to", to}, {"counts", counts}};
}

}  // namespace

Json picture_json(const DrawnRows& all) {
  const DrawnRows rows = placed(all);
  if (rows.x.size() < 2) return nullptr;
  if (rows.y.empty()) return line(rows);
  if (auto grid = regular_grid(rows)) return *std::move(grid);
  const Box box = box_of(rows);
  const bool is_dense = dense(box.cells);
  if (rows.x.size() > (is_dense ? kMostDense : kMostScattered)) return binned(rows, box);
  return {{"kind", "scatter"},   {"dense", is_dense},   {"rows", rows.x.size()},
          {"x", placed(rows.x)}, {"y", placed(rows.y)}, {"models", models_json(rows, nullptr)}};
}

Json histogram_json(const std::vector<double>& gammas, const std::vector<double>& values) {
  double size = 0;
  for (const double value : values) size = std::isfinite(value) ? std::max(size, std::abs(value)) : size;
  std::vector<double> positive;
  std::size_t zeros = 0, missing = 0;
  for (const double gamma : gammas) {
    if (!std::isfinite(gamma)) {
      ++missing;
    } else if (gamma <= kRounding * size) {
      ++zeros;
    } else {
      positive.push_back(gamma);
    }
  }
  Json json{{"entries", gammas.size()}, {"zeros", zeros}, {"missing", missing}};
  if (positive.empty()) return json;
  const auto [least, largest] = std::minmax_element(positive.begin(), positive.end());
  json["largest"] = *largest;
  json["linear"] = bins(positive, 0, *largest);
  std::vector<double> logarithms(positive.size());
  std::transform(positive.begin(), positive.end(), logarithms.begin(),
                 [](double g) { return std::log10(g); });
  json["logarithmic"] = bins(logarithms, std::log10(*least), std::log10(*largest));
  return json;
}

}  // namespace harmonia
