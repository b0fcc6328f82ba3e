#include "report_data.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>

#include "gamma_picture.hpp"
#include "result_json.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

// Gathers the rows of `harmonia gamma` as they are parsed.
class GammaRows {
 public:
  explicit GammaRows(const ResultFile& file) : file_(file) { drawn_.models.resize(1); }

  void add(const Json& json) {
    const ResultField row(file_, json);
    const double gamma = number(row, "gamma"), value = number(row, "value");
    gammas_.push_back(gamma);
    values_.push_back(value);
    if (!row.has("x")) return;
    const ResultField x = row.at("x");
    if (x.size() < 1 || x.size() > 2) return;
    DrawnModel& model = drawn_.models.front();
    // With output `all` a row has an entry a column: the picture shows their mean.
    const bool further_column = row.has("column") && row.at("column").number() > 0 && !drawn_.x.empty();
    if (further_column) {
      ++columns_;
      model.gamma.back() += (gamma - model.gamma.back()) / columns_;
      return;
    }
    columns_ = 1;
    drawn_.x.push_back(x.at(std::size_t{0}).number_or_nan());
    if (x.size() == 2) drawn_.y.push_back(x.at(std::size_t{1}).number_or_nan());
    model.gamma.push_back(gamma);
    model.value.push_back(row.has("column") ? kNoNumber : value);
    model.decided_class.push_back(number(row, "class"));
  }

  void finish(Json& frame) {
    frame["histogram"] = histogram_json(gammas_, values_);
    if (!drawn_.y.empty() && drawn_.y.size() != drawn_.x.size()) return;
    Json picture = picture_json(drawn_);
    if (!picture.is_null()) frame["picture"] = std::move(picture);
  }

 private:
  static double number(const ResultField& row, const char* key) {
    return row.has(key) ? row.at(key).number() : kNoNumber;
  }

  const ResultFile& file_;
  DrawnRows drawn_;
  std::vector<double> gammas_, values_;
  double columns_ = 1;
};

// Gathers the rows of `harmonia persistence`: how many persistences lie where, for each gamma and group.
class PersistenceRows {
 public:
  explicit PersistenceRows(const ResultFile& file) : file_(file) {}

  void add(const Json& json) {
    const ResultField row(file_, json);
    Group& group =
        groups_[row.at("gamma").number()][row.has("group") ? row.at("group").text() : std::string("natural")];
    const std::string& outcome = row.at("outcome").text();
    if (row.has("sigma") && row.at("sigma").number() > 0) {
      group.sigmas.push_back(row.at("sigma").number());
    } else {
      ++(outcome == "censored_low" ? group.lost : outcome == "censored_high" ? group.kept : group.missing);
    }
  }

  void finish(Json& frame) const {
    Json list = Json::array();
    for (const auto& [gamma, groups] : groups_) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const auto& [name, group] : groups) {
        for (const double sigma : group.sigmas) {
          low = std::min(low, std::log10(sigma));
          high = std::max(high, std::log10(sigma));
        }
      }
      Json entry{{"gamma", gamma}};
      if (low <= high) entry.update({{"from", low}, {"to", high}});
      for (const auto& [name, group] : groups) {
        std::vector<std::size_t> counts(kBins);
        for (const double sigma : group.sigmas) {
          const double share = high > low ? (std::log10(sigma) - low) / (high - low) : 0;
          ++counts[std::min(kBins - 1, static_cast<std::size_t>(share * static_cast<double>(kBins)))];
        }
        entry[name == "against" ? "against" : "natural"] = {
            {"lost", group.lost}, {"kept", group.kept}, {"missing", group.missing}, {"counts", counts}};
      }
      list.push_back(std::move(entry));
    }
    frame["distributions"] = std::move(list);
  }

 private:
  static constexpr std::size_t kBins = 24;
  struct Group {
    std::vector<double> sigmas;
    std::size_t lost = 0, kept = 0, missing = 0;
  };

  const ResultFile& file_;
  std::map<double, std::map<std::string, Group>> groups_;
};

// Gathers the rows of `harmonia map`: how many stable and other rows lie where.
class MapDensity {
 public:
  explicit MapDensity(const ResultFile& file) : file_(file) {}

  void add(const Json& json) {
    const ResultField row(file_, json);
    if (!row.has("gamma") || !row.has("logit_p") || !row.has("stable")) return;
    const Json& stable = row.at("stable").json();
    points_.push_back(
        {row.at("gamma").number(), row.at("logit_p").number(), stable.is_boolean() && stable.get<bool>()});
  }

  void finish(const ResultField& frame, Json& out) const {
    if (points_.empty()) return;
    const ResultField summary = frame.at("summary");
    double floor = std::numeric_limits<double>::infinity();
    for (const Point& point : points_) {
      if (point.gamma > 0) floor = std::min(floor, point.gamma / 2);
    }
    if (summary.has("map")) floor = summary.at("map").at("floor").number();
    if (!std::isfinite(floor) || !(floor > 0)) return;
    const auto across = [&](const Point& p) { return std::log10(std::max(p.gamma, floor)); };
    const auto up = [](const Point& p) { return p.log_odds; };
    const auto [left, right] = ends(across);
    const auto [bottom, top] = ends(up);
    std::vector<std::size_t> stable(kAcross * kUp), unstable(kAcross * kUp);
    for (const Point& point : points_) {
      const std::size_t place =
          bin(up(point), bottom, top, kUp) * kAcross + bin(across(point), left, right, kAcross);
      ++(point.stable ? stable : unstable)[place];
    }
    out["density"] = {{"from", left},      {"to", right}, {"bottom", bottom}, {"top", top},
                      {"across", kAcross}, {"up", kUp},   {"stable", stable}, {"unstable", unstable}};
  }

 private:
  static constexpr std::size_t kAcross = 36, kUp = 24;
  struct Point {
    double gamma, log_odds;
    bool stable;
  };

  template <class Place>
  std::pair<double, double> ends(const Place& place) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Point& point : points_) {
      low = std::min(low, place(point));
      high = std::max(high, place(point));
    }
    return low < high ? std::pair(low, high) : std::pair(low - 0.5, low + 0.5);
  }
  static std::size_t bin(double value, double low, double high, std::size_t bins) {
    return std::min(bins - 1,
                    static_cast<std::size_t>((value - low) / (high - low) * static_cast<double>(bins)));
  }

  const ResultFile& file_;
  std::vector<Point> points_;
};

std::vector<double> numbers(const ResultField& object, const char* key, std::size_t rows) {
  if (!object.has(key)) return std::vector<double>(rows, kNoNumber);
  const ResultField list = object.at(key);
  std::vector<double> values;
  for (std::size_t i = 0; i < list.size(); ++i) values.push_back(list.at(i).number_or_nan());
  values.resize(rows, kNoNumber);
  return values;
}

// The points of `harmonia compare`, which come by columns.
Json points_picture(const ResultField& points) {
  DrawnRows drawn;
  const ResultField x = points.at("x");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const ResultField row = x.at(i);
    if (row.size() < 1 || row.size() > 2 || (i > 0 && (row.size() == 2) != !drawn.y.empty())) return nullptr;
    drawn.x.push_back(row.at(std::size_t{0}).number_or_nan());
    if (row.size() == 2) drawn.y.push_back(row.at(std::size_t{1}).number_or_nan());
  }
  const ResultField models = points.at("models");
  for (std::size_t m = 0; m < models.size(); ++m) {
    const ResultField model = models.at(m);
    drawn.models.push_back({model.at("name").text(), numbers(model, "class", drawn.x.size()),
                            numbers(model, "gamma", drawn.x.size()),
                            numbers(model, "value", drawn.x.size())});
  }
  return picture_json(drawn);
}

// The page shows answers of the rows with the largest gamma; those of all would be most of it.
void keep_worst_answers(const ResultFile& file, Json& rows) {
  constexpr std::size_t kShown = 12;
  std::vector<double> gammas;
  for (const Json& row : rows) gammas.push_back(ResultField(file, row).at("gamma").number_or_nan());
  std::vector<double> largest;
  std::copy_if(gammas.begin(), gammas.end(), std::back_inserter(largest), [](double g) { return g > 0; });
  std::sort(largest.begin(), largest.end(), std::greater<>());
  const double least = largest.size() > kShown ? largest[kShown - 1] : 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!(gammas[i] >= least && gammas[i] > 0)) rows[i].erase("answers");
}

}  // namespace

Json report_data(const ResultFile& file) {
  constexpr std::size_t kMostRows =
      2000;  // that the page shows one by one: pairs of models, radii, crossings
  GammaRows gamma(file);
  PersistenceRows persistence(file);
  MapDensity density(file);
  Json kept = Json::array();
  std::map<std::string, std::size_t> attacked;  // rows that are kept of each method
  std::size_t rows = 0;
  // What the rows are is known only when the command was read: a row with a gamma is drawn, others are kept.
  Json frame = parse_result(file, {}, [&](Json& row) {
    ++rows;
    if (row.contains("gamma") && row.contains("certified_sigma") && row.contains("outcome")) {
      persistence.add(row);
      if (kept.size() < kMostRows) kept.push_back(std::move(row));
    } else if (row.contains("logit_p")) {
      density.add(row);
      if (kept.size() < kMostRows) kept.push_back(std::move(row));
    } else if (row.contains("family") && row.contains("answers")) {
      if (kept.size() < kMostRows) kept.push_back(std::move(row));
    } else if (row.contains("gamma") && row.contains("outcome")) {
      gamma.add(row);
    } else if (row.contains("method") && row.contains("new_class")) {
      // All rows of one method come before those of the other: each has half of the places.
      const bool room = ++attacked[ResultField(file, row).at("method").text()] <= kMostRows / 2;
      if (room && kept.size() < kMostRows) kept.push_back(std::move(row));
    } else if (kept.size() < kMostRows) {
      row.erase("point");  // of a crossing, as wide as the data
      kept.push_back(std::move(row));
    }
  });
  const ResultField field(file, frame);
  field.at("summary").object();
  field.at("options").object();
  field.at("data").at("source").text();
  const std::string command = field.at("command").text();
  if (field.has("points")) {
    Json picture = points_picture(field.at("points"));
    frame.erase("points");
    if (!picture.is_null()) frame["picture"] = std::move(picture);
  }
  if (command == "gamma") {
    field.at("model").at("path").text();
    gamma.finish(frame);
  }
  if (command == "persistence") persistence.finish(frame);
  if (command == "map") density.finish(field, frame);
  if (command == "text") keep_worst_answers(file, kept);
  frame["rows"] = std::move(kept);
  frame["row_count"] = rows;
  return frame;
}

}  // namespace harmonia
