#include "harmonia/measure/map_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "harmonia/core/error.hpp"
#include "harmonia/core/logistic.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/point_asker.hpp"
#include "missing.hpp"
#include "probability_watch.hpp"

namespace harmonia {
namespace {

// Whether the label is the decided class; none if it is not known to be a class.
std::optional<bool> is_correct(const std::string& label, std::size_t decided, const ModelInfo& model) {
  const std::optional<std::size_t> known = labelled_class(label, model);
  return known ? std::optional(*known == decided) : std::nullopt;
}

// Rows that the evaluations pay for, gamma included.
std::uint64_t affordable_rows(const GammaOptions& options, std::size_t inputs, const Ledger& ledger) {
  const std::uint64_t left = ledger.left();
  return left == Ledger::kUnlimited ? left : left / (1 + gamma_cost(options, inputs));
}

// Asks for the logits of a block, up to `most` rows in all.
void place_block(PointAsker& asker, const RowBlock& block, std::uint64_t most, ProbabilityWatch& watch,
                 std::vector<MapRow>& rows) {
  const ModelInfo& model = asker.model().info();
  const std::uint64_t left = most - std::min<std::uint64_t>(most, rows.size());
  const auto asked = static_cast<std::size_t>(std::min<std::uint64_t>(block.values.rows(), left));
  const auto values = [&](std::size_t i) {
    return std::span<const double>(block.values.row(i), block.values.columns());
  };
  for (std::size_t i = 0; i < asked; ++i) check_missing(model, values(i), block.number(i));
  Matrix<double> answers(asked, model.outputs);
  asker.ask(
      asked,
      [&](std::size_t i, std::span<double> x) { std::copy(values(i).begin(), values(i).end(), x.begin()); },
      answers.view());
  for (std::size_t i = 0; i < block.values.rows(); ++i) {
    MapRow row;
    row.row = block.number(i);
    if (!block.ids.empty()) row.id = block.ids[i];
    if (!block.labels.empty()) row.label = block.labels[i];
    if (i < asked) {
      const std::span<const double> logits(answers.row(i), model.outputs);
      watch.look(logits);
      row.place = logit_place(logits);
      row.correct = is_correct(row.label, row.place->decided_class, model);
    }
    rows.push_back(std::move(row));
  }
}

// Which row of the further variables is about which row of the data.
class VariablePlaces {
 public:
  explicit VariablePlaces(const MapVariables& variables)
      : by_id_(!variables.ids.empty()), rows_(variables.values.rows()) {
    for (std::size_t i = 0; i < variables.ids.size(); ++i) {
      if (!places_.emplace(variables.ids[i], i).second) {
        throw Error(ErrorCode::input,
                    fmt::format("the further variables have id {} twice", in_quotes(variables.ids[i])));
      }
    }
  }

  std::size_t at(std::size_t row, const std::string& id) const {
    if (by_id_) {
      const auto found = places_.find(id);
      if (found != places_.end()) return found->second;
      throw Error(ErrorCode::input,
                  fmt::format("the further variables have no id {}, which row {} has", in_quotes(id), row));
    }
    if (row < rows_) return row;
    throw Error(ErrorCode::input,
                fmt::format("the further variables have {} rows; the data has row {}", rows_, row));
  }

 private:
  bool by_id_;
  std::size_t rows_;
  std::unordered_map<std::string, std::size_t> places_;
};

void warn_of_labels(MapRows& result) {
  const MapRow* example = nullptr;
  std::size_t labelled = 0, unknown = 0;
  for (const MapRow& row : result.rows) {
    if (row.label.empty() || !row.place) continue;
    ++labelled;
    if (row.correct) continue;
    ++unknown;
    if (example == nullptr) example = &row;
  }
  if (unknown == 0) return;
  result.warnings.push_back(
      fmt::format("{} of {} labels are no class of the model ({} of row {}, for one): expected the number of "
                  "an output{}; "
                  "accuracy is of the others",
                  unknown, labelled, in_quotes(example->label), example->row,
                  result.classes.empty() ? "" : " or the name of a class"));
}

}  // namespace

LogitPlace logit_place(std::span<const double> logits) {
  LogitPlace place;
  place.classes = logits.size();
  place.decided_class =
      static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  place.logit = logits[place.decided_class];
  CompensatedSum sum, others;
  double second = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < logits.size(); ++k) {
    sum.add(logits[k] / static_cast<double>(logits.size()));
    if (k != place.decided_class) second = std::max(second, logits[k]);
  }
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != place.decided_class) others.add(std::exp(logits[k] - second));
  }
  place.mean = sum.value();
  place.log_odds = (place.logit - second) - std::log(others.value());
  return place;
}

double LogitPlace::probability() const { return logistic(log_odds); }

double LogitPlace::log_score(double steps_times_gamma) const {
  return -log_loss(log_odds, true) - steps_times_gamma;
}

double LogitPlace::score(double steps_times_gamma) const { return std::exp(log_score(steps_times_gamma)); }

double LogitPlace::two_exponential_log_odds(double steps_times_gamma) const {
  return (logit - mean) - steps_times_gamma - std::log(static_cast<double>(classes - 1));
}

double LogitPlace::softmax_log_odds(double steps_times_gamma) const { return log_odds - steps_times_gamma; }

MapRows map_rows(const Model& model, RowSource& data, const GammaOptions& asked, std::size_t steps,
                 Run& run) {
  if (data.info().inputs != model.info().inputs) {
    throw Error(ErrorCode::input, fmt::format("data has {} columns; model {} expects {}", data.info().inputs,
                                              model.info().name, model.info().inputs));
  }
  if (steps == 0) throw Error(ErrorCode::usage, "steps is 0; expected at least 1");
  check_confidence(asked.confidence);
  MapRows result;
  result.steps = steps;
  result.classes = model.info().classes;
  result.confidence = asked.confidence;
  ProbabilityWatch watch;
  {
    PointAsker asker(model, asked.batch, run);
    const std::uint64_t most = affordable_rows(asked, data.info().inputs, run.ledger);
    RowBlock block;
    while (data.read(block, rows_per_block(data.info().inputs)))
      place_block(asker, block, most, watch, result.rows);
    data.rewind();
  }
  GammaOptions options = asked;
  options.output = {};
  std::size_t next = 0;
  result.gamma = gamma(model, data, options, run, [&](const GammaRow& row) {
    GammaRow& kept = result.rows.at(next++).gamma;
    kept = row;
    kept.x.clear();
    kept.id.clear();
    kept.label.clear();
  });
  result.warnings = result.gamma.warnings;
  warn_of_labels(result);
  if (watch.suspicious()) {
    result.warnings.push_back(watch.warning(model.info().name));
  }
  return result;
}

void enter_searches(MapRows& rows, const std::vector<MapSearch>& searches) {
  std::unordered_map<std::size_t, std::size_t> places;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) places[rows.rows[i].row] = i;
  for (const MapSearch& search : searches) {
    if (const auto found = places.find(search.row); found != places.end())
      rows.rows[found->second].search = search;
  }
}

MapVariables read_variables(RowSource& data) {
  MapVariables result{feature_names(data.info()), {}, {}};
  std::vector<double> numbers;
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) {
    const double* first = block.values.row(0);
    numbers.insert(numbers.end(), first, first + block.values.rows() * block.values.columns());
    result.ids.insert(result.ids.end(), block.ids.begin(), block.ids.end());
  }
  result.values = Matrix<double>(numbers.size() / data.info().inputs, data.info().inputs);
  std::copy(numbers.begin(), numbers.end(), result.values.view().data);
  return result;
}

void check_variables(RowSource& data, const MapVariables& variables) {
  const VariablePlaces places(variables);
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) {
    for (std::size_t i = 0; i < block.values.rows(); ++i)
      places.at(block.number(i), block.ids.empty() ? std::string() : block.ids[i]);
  }
  data.rewind();
}

void enter_variables(MapRows& rows, const MapVariables& variables) {
  const VariablePlaces places(variables);
  rows.extra = variables.names;
  for (MapRow& row : rows.rows) {
    const double* values = variables.values.row(places.at(row.row, row.id));
    row.extra.assign(values, values + variables.values.columns());
  }
}

std::uint64_t map_share(const GammaOptions& options, std::size_t inputs, std::uint64_t search,
                        std::uint64_t left) {
  if (left == Ledger::kUnlimited) return left;
  const std::uint64_t measure = 1 + gamma_cost(options, inputs);
  const std::uint64_t rows = left / (measure + search);
  return rows == 0 ? left : rows * measure;
}

}  // namespace harmonia
