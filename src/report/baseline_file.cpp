#include "harmonia/report/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gamma_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "result_json.hpp"
#include "saved_gamma.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOwner = "the baseline";

// Reads the parts of one file.
class BaselineReader {
 public:
  explicit BaselineReader(const ResultFile& file) : file_(file) {}

  Baseline read(const ResultField& summary) {
    const ResultField field = summary.at("baseline");
    for (std::size_t j = 0; j < field.at("features").size(); ++j) {
      baseline_.features.push_back(field.at("features").at(j).text());
    }
    if (baseline_.features.empty()) fail("the baseline has no features; expected at least 1");
    baseline_.options = gamma_options(field.at("gamma"));
    baseline_.seed = field.at("seed").count();
    baseline_.learning_rows = field.at("learning_rows").count();
    baseline_.reference_rows = field.at("reference_rows").count();
    baseline_.rows_without_value = field.at("rows_without_value").count();
    baseline_.partition = partition(field.at("partition"));
    edges(field.at("edges"));
    baseline_.unit = positive_number(file_, field, "unit", kOwner);
    if (int exponent = 0; std::frexp(baseline_.unit, &exponent) != 0.5) {
      fail(fmt::format("the baseline's unit is {}; expected a power of two", baseline_.unit));
    }
    counts(field.at("counts"));
    baseline_.gamma = statistics(summary.at("gamma"), baseline_.reference_rows, "all rows");
    const ResultField regions = summary.at("regions");
    expect_size(regions, baseline_.partition.regions, "regions");
    for (std::size_t r = 0; r < regions.size(); ++r) {
      baseline_.regions.push_back(
          statistics(regions.at(r), total(baseline_.counts.gamma[r]), fmt::format("region {}", r)));
    }
    return std::move(baseline_);
  }

  // An entry of the frame's "rows", of which `row` is the number.
  static BaselineRow row(const ResultFile& file, const Json& json, std::size_t row) {
    const ResultField field(file, json);
    BaselineRow kept;
    kept.region = field.at("region").count();
    kept.gamma = field.at("gamma").number();
    if (!(kept.gamma >= 0)) {
      fail(file, fmt::format("row {} has gamma {}; expected at least 0", row, kept.gamma));
    }
    for (std::size_t j = 0; j < field.at("values").size(); ++j) {
      kept.values.push_back(field.at("values").at(j).number_or_nan());
    }
    if (field.has("id")) kept.id = field.at("id").text();
    return kept;
  }

  [[noreturn]] static void fail(const ResultFile& file, const std::string& what) {
    throw Error(ErrorCode::input, fmt::format("{}: {}", printable(file.name, 500), what));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail(file_, what); }

  void expect_size(const ResultField& list, std::size_t size, const char* what) const {
    if (list.size() != size)
      fail(fmt::format("the baseline has {} {}; expected {}", list.size(), what, size));
  }

  GammaOptions gamma_options(const ResultField& field) const {
    GammaOptions options = read_saved_gamma(file_, field, kOwner);
    try {
      options.output = parse_output(field.at("output").text());
    } catch (const Error& error) {
      if (error.code() == ErrorCode::input) throw;
      fail(error.what());
    }
    if (options.output.kind == OutputChoice::Kind::all)
      fail("the baseline's output is all; no baseline has it");
    options.paper = read_flag(file_, field, "paper", kOwner);
    options.confidence = field.at("confidence").number();
    if (!is_confidence(options.confidence))
      fail(fmt::format("the baseline's confidence is {}; expected between 0 and 1", options.confidence));
    if (!options.schema.empty())
      expect_size(field.at("schema"), baseline_.features.size(), "features with a schema");
    for (const Feature& feature : options.schema) {
      if (!(feature.lower <= feature.upper))
        fail(fmt::format("the bounds of {} are {} and {}; expected the lower one first",
                         in_quotes(feature.name), feature.lower, feature.upper));
    }
    return options;
  }

  // Every node but the first has one parent, which comes before it; every region has one node.
  Partition partition(const ResultField& list) const {
    Partition result;
    std::vector<bool> met(list.size());
    std::vector<bool> numbered((list.size() + 1) / 2);
    result.regions = numbered.size();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const ResultField entry = list.at(i);
      Partition::Node node;
      if (entry.has("region")) {
        node.low = static_cast<std::uint32_t>(number_below(entry, "region", numbered, "region"));
      } else {
        const std::size_t feature = entry.at("feature").count();
        if (feature >= baseline_.features.size())
          fail(fmt::format("node {} asks about feature {}; there are {}", i, feature,
                           baseline_.features.size()));
        node.feature = static_cast<std::int32_t>(feature);
        node.threshold = entry.at("threshold").number();
        node.low = static_cast<std::uint32_t>(number_below(entry, "low", met, "node"));
        node.high = static_cast<std::uint32_t>(number_below(entry, "high", met, "node"));
        if (node.low <= i || node.high <= i)
          fail(fmt::format("node {} leads back; expected nodes after it", i));
      }
      result.nodes.push_back(node);
    }
    if (list.size() % 2 == 0 || std::count(met.begin(), met.end(), true) + 1 != std::ssize(met) ||
        std::count(numbered.begin(), numbered.end(), false) > 0) {
      fail("the baseline's partition is no tree");
    }
    return result;
  }

  // A number that is met for the first time.
  std::size_t number_below(const ResultField& entry, const char* key, std::vector<bool>& met,
                           const char* what) const {
    const std::size_t number = entry.at(key).count();
    if (number >= met.size() || met[number]) {
      fail(fmt::format("the baseline's partition has {} {}, {}", what, number,
                       number < met.size() ? "twice" : fmt::format("of {}", met.size())));
    }
    met[number] = true;
    return number;
  }

  void edges(const ResultField& list) {
    expect_size(list, baseline_.features.size(), "lists of edges");
    for (std::size_t j = 0; j < list.size(); ++j) {
      std::vector<double> edges;
      for (std::size_t b = 0; b < list.at(j).size(); ++b) {
        const double edge = list.at(j).at(b).number();
        if (!edges.empty() && !(edges.back() < edge))
          fail(fmt::format("the edges of {} do not ascend at {}", in_quotes(baseline_.features[j]), edge));
        edges.push_back(edge);
      }
      baseline_.edges.push_back(std::move(edges));
    }
  }

  BinCounts bins(const ResultField& list, std::uint32_t most, const char* what) const {
    BinCounts counts;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const ResultField pair = list.at(i);
      if (pair.size() != 2) fail(fmt::format("a count of {} has {} numbers; expected 2", what, pair.size()));
      const std::size_t bin = pair.at(std::size_t{0}).count(), count = pair.at(1).count();
      if (bin > most) fail(fmt::format("{} {} is counted; expected at most {}", what, bin, most));
      if (!counts.empty() && bin <= counts.rbegin()->first)
        fail(fmt::format("counts of {} do not ascend at {}", what, bin));
      if (count == 0) fail(fmt::format("{} {} is counted 0 times; expected at least once", what, bin));
      counts[static_cast<std::uint32_t>(bin)] = checked(count, what);
    }
    return counts;
  }

  // A count of rows; together they are no more than the reference has, so that sums do not overflow.
  std::uint64_t checked(std::uint64_t count, const char* what) const {
    if (count <= baseline_.reference_rows) return count;
    fail(fmt::format("{} has {}; the reference has {}", what, counted(count, "row"),
                     baseline_.reference_rows));
  }

  void expect_rows(std::uint64_t rows, const std::string& what) const {
    if (rows != baseline_.reference_rows)
      fail(fmt::format("{} has {}; the reference has {}", what, counted(rows, "row"),
                       baseline_.reference_rows));
  }

  void counts(const ResultField& field) {
    RowCounts& counts = baseline_.counts;
    constexpr std::size_t kMostRows = std::size_t{1} << 40;  // and no sum overflows
    if (baseline_.reference_rows > kMostRows)
      fail(fmt::format("the reference has {} rows; no baseline has so many", baseline_.reference_rows));
    const ResultField gamma = field.at("gamma"), sums = field.at("gamma_sum"),
                      features = field.at("features");
    expect_size(gamma, baseline_.partition.regions, "regions with counts");
    expect_size(sums, baseline_.partition.regions, "regions with sums");
    expect_size(features, baseline_.features.size(), "features with counts");
    std::uint64_t rows = 0;
    for (std::size_t r = 0; r < gamma.size(); ++r) {
      counts.gamma.push_back(bins(gamma.at(r), kValueBins - 1, "bin"));
      rows += checked(total(counts.gamma.back()), "a region");
      const std::size_t sum = sums.at(r).count();
      if (sum > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))
        fail(fmt::format("the sum of region {} is {}; expected at most 2^63 − 1", r, sum));
      counts.gamma_sum.push_back(static_cast<std::int64_t>(sum));
    }
    expect_rows(rows, "gamma");
    for (std::size_t j = 0; j < features.size(); ++j) {
      const std::string name = in_quotes(baseline_.features[j]);
      const ResultField list = features.at(j);
      if (list.size() != baseline_.edges[j].size() + 2)
        fail(fmt::format("{} has {}; expected {}", name, counted(list.size(), "bin"),
                         baseline_.edges[j].size() + 2));
      counts.features.emplace_back();
      rows = 0;
      for (std::size_t b = 0; b < list.size(); ++b) {
        counts.features.back().push_back(checked(list.at(b).count(), "a bin"));
        rows += counts.features.back().back();
      }
      expect_rows(rows, name);
    }
    counts.classes = bins(field.at("classes"), kOtherClass, "class");
    checked(total(counts.classes), "the list of classes");
  }

  GammaStatistics statistics(const ResultField& field, std::size_t rows, const std::string& where) const {
    GammaStatistics result;
    result.rows = field.at("rows").count();
    if (result.rows != rows)
      fail(fmt::format("gamma of {} is of {}; expected {}", where, counted(result.rows, "row"), rows));
    const std::pair<const char*, std::optional<double>*> values[]{
        {"mean", &result.mean}, {"low", &result.low},
        {"high", &result.high}, {"stderr", &result.standard_error},
        {"rms", &result.rms},   {"relative", &result.relative}};
    for (const auto& [key, value] : values) {
      if (field.has(key)) *value = field.at(key).number();
    }
    return result;
  }

  const ResultFile& file_;
  Baseline baseline_;
};

}  // namespace

SavedBaseline read_baseline(const ResultFile& file) {
  std::vector<BaselineRow> rows;
  const Json frame = parse_result(
      file, {"baseline"}, [&](Json& json) { rows.push_back(BaselineReader::row(file, json, rows.size())); });
  const ResultField whole(file, frame), field = whole.at("summary").at("baseline"), model = whole.at("model");
  SavedBaseline saved;
  saved.baseline = BaselineReader(file).read(whole.at("summary"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].values.size() != saved.baseline.features.size()) {
      BaselineReader::fail(
          file, fmt::format("row {} has {}; expected {}", i, counted(rows[i].values.size(), "value"),
                            saved.baseline.features.size()));
    }
    if (rows[i].region != saved.baseline.partition.region_of(rows[i].values))
      BaselineReader::fail(file, fmt::format("row {} is not in region {}", i, rows[i].region));
  }
  if (rows.empty()) BaselineReader::fail(file, "no row is kept; expected at least one");
  saved.baseline.rows = std::move(rows);
  saved.scale = field.at("gamma").at("scale").text();
  saved.margin = read_flag(file, field, "margin", kOwner);
  saved.takes_missing = read_flag(file, field, "takes_missing", kOwner);
  // Those of older versions do not say.
  saved.log_probabilities =
      field.has("log_probabilities") && read_flag(file, field, "log_probabilities", kOwner);
  saved.binary = read_flag(file, whole.at("options"), "binary", kOwner);
  saved.model_output = field.at("model_output").text();
  saved.model = model.at("path").text();
  if (model.has("sha256")) saved.sha256 = model.at("sha256").text();
  return saved;
}

std::optional<std::string> other_model(const SavedBaseline& baseline, const ModelInfo& model) {
  const bool files = !baseline.sha256.empty() && !model.sha256.empty();
  if (files ? baseline.sha256 == model.sha256 : baseline.model == model.name) return std::nullopt;
  return fmt::format("the baseline was measured on {}{}; {} is compared with it", printable(baseline.model),
                     files && baseline.model == model.name ? " with other contents" : "",
                     printable(model.name));
}

}  // namespace harmonia
