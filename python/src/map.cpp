#include "map.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "arrays.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/model/logit_model.hpp"
#include "harmonia/report/map_report.hpp"
#include "harmonia/search/map_search.hpp"
#include "measure.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

/// A result as Python holds it.
struct PythonMap {
  MapRunRecord record;
  MapResult result;
};

/// Answers as Python holds them.
struct PythonMapUse {
  MapRunRecord record;
  SavedMap map;
  std::string path;
  MapUse use;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Further variables, a column each; there has to be a row of them for every row of the data.
std::optional<MapVariables> asked_variables(const std::vector<std::string>& names,
                                            const std::optional<RowsArray>& values, RowSource& data) {
  if (!values) return std::nullopt;
  MapVariables variables{names, Matrix<double>(values->shape(0), values->shape(1)), {}};
  std::copy(values->data(), values->data() + values->size(), variables.values.view().data);
  check_variables(data, variables);
  return variables;
}

bool are_probabilities(const std::string& outputs) {
  if (outputs == "logits" || outputs == "probabilities") return outputs == "probabilities";
  throw Error(ErrorCode::usage, fmt::format("outputs is '{}'; expected logits or probabilities", outputs));
}

PythonMap make_map(const PythonModel& model, const PythonData& data, const std::string& outputs,
                   AttackOptions search, const MapFitOptions& fit, const std::vector<std::string>& names,
                   const std::optional<RowsArray>& values, const GammaArguments& arguments,
                   const nb::object& progress) {
  PythonMap made;
  MapRunRecord& record = made.record;
  MapResult& result = made.result;
  record.probabilities = are_probabilities(outputs);
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    record.gamma = asked_record(arguments, data);
    record.gamma.options.output = {};
    record.gamma.model = model.info();
    search.radius = record.step = record.gamma.options.ball.radius;
    search.paper = record.gamma.options.paper;
    search.go_on = true;
    search.schema = record.gamma.options.schema;
    search.batch = record.gamma.options.batch;
    search = of_images(std::move(search), record.gamma.data.image);
    record.candidates = search.candidates;
    record.lower = search.lower;
    record.upper = search.upper;
    record.fit = fit;
    record.fit.confidence = record.gamma.options.confidence;
    record.fit.seed = arguments.seed;
    const std::unique_ptr<Model> logits =
        make_logit_model(*model.model, record.probabilities, record.gamma.model.classes);
    const std::optional<MapVariables> variables = asked_variables(names, values, *data.data);
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.gamma.model.example_rows);
    result.rows = measure_and_search(*logits, *data.data, record.gamma.options, search, run);
    if (variables) enter_variables(result.rows, *variables);
    result.evaluations = run.ledger.spent();
    result.table = map_table(result.rows);
    result.fit = fit_map(result.rows, record.fit, logits->info().scalar);
    result.warnings = result.rows.warnings;
    for (const std::string& sentence : result.fit.warnings) result.warnings.push_back(sentence);
    add_scale_warning(arguments, data, result.warnings);
    record.gamma.seconds = seconds_since(start);
  });
  return made;
}

PythonMapUse use_map(const SavedMap& map, const std::string& path, const PythonModel& model,
                     const PythonData& data, const std::vector<std::string>& names,
                     const std::optional<RowsArray>& values, const GammaArguments& arguments,
                     const nb::object& progress) {
  PythonMapUse used{{}, map, path, {}};
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    GammaRunRecord& record = used.record.gamma;
    record.data = data.data->info();
    record.options = map.gamma;
    record.options.ball.image = record.data.image;
    record.options.batch = arguments.options.batch;
    record.scale = map.scale;
    record.has_schema = !map.gamma.schema.empty();
    record.margin = map.margin;
    record.model_output = arguments.model_output;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    record.model = model.info();
    used.record.probabilities = map.probabilities;
    const std::unique_ptr<Model> logits =
        make_logit_model(*model.model, map.probabilities, record.model.classes);
    const std::optional<MapVariables> variables = asked_variables(names, values, *data.data);
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    used.use.rows = map_rows(*logits, *data.data, record.options, map.steps, run);
    data.data->rewind();
    if (variables) enter_variables(used.use.rows, *variables);
    used.use.answers = ask_map(map.map, used.use.rows);
    used.use.evaluations = run.ledger.spent();
    used.use.warnings = used.use.rows.warnings;
    if (const auto sentence = other_model(map, record.model)) used.use.warnings.push_back(*sentence);
    record.seconds = seconds_since(start);
  });
  return used;
}

// What a map answers for lists of equal length; extra is rows × further variables.
nb::tuple answers_of(const SavedMap& map, const std::vector<double>& log_odds,
                     const std::vector<double>& gamma, const std::vector<double>& low,
                     const std::vector<double>& high, const std::optional<RowsArray>& extra) {
  std::vector<double> probability, from, to;
  std::vector<double> outside;
  for (std::size_t i = 0; i < log_odds.size(); ++i) {
    MapQuestion question{log_odds[i], gamma[i], {low[i], high[i]}, {}};
    if (extra) {
      const double* row = extra->data() + i * extra->shape(1);
      question.extra.assign(row, row + extra->shape(1));
    }
    const MapAnswer answer = map.map.predict(question);
    probability.push_back(answer.probability);
    from.push_back(answer.interval.low);
    to.push_back(answer.interval.high);
    outside.push_back(answer.outside ? 1 : 0);
  }
  return nb::make_tuple(numpy_array(std::move(probability)), numpy_array(std::move(from)),
                        numpy_array(std::move(to)), numpy_array(std::move(outside)));
}

std::vector<double> log_odds_of_all(const std::vector<double>& probabilities) {
  std::vector<double> result(probabilities.size());
  std::transform(probabilities.begin(), probabilities.end(), result.begin(), log_odds_of);
  return result;
}

void bind_saved_map(nb::module_& m) {
  nb::class_<SavedMap>(m, "SavedMap", "A map and how its inputs were measured.")
      .def_prop_ro("steps", [](const SavedMap& self) { return self.steps; })
      .def_prop_ro("radius", [](const SavedMap& self) { return self.gamma.ball.radius; })
      .def_prop_ro("ball", [](const SavedMap& self) { return ball_name(self.gamma.ball); })
      .def_prop_ro("margin", [](const SavedMap& self) { return self.margin; })
      .def_prop_ro("model", [](const SavedMap& self) { return self.model; })
      .def_prop_ro("model_output", [](const SavedMap& self) { return self.model_output; })
      .def_prop_ro("sha256", [](const SavedMap& self) { return self.sha256; })
      .def_prop_ro("outputs",
                   [](const SavedMap& self) { return self.probabilities ? "probabilities" : "logits"; })
      .def_prop_ro("inputs", [](const SavedMap& self) { return self.map.inputs; })
      .def_prop_ro("means", [](const SavedMap& self) { return self.map.fit.means; })
      .def_prop_ro("scales", [](const SavedMap& self) { return self.map.fit.scales; })
      .def_prop_ro("coefficients", [](const SavedMap& self) { return self.map.fit.coefficients; })
      .def_prop_ro("floor", [](const SavedMap& self) { return self.map.floor; })
      .def_prop_ro("confidence", [](const SavedMap& self) { return self.map.confidence; })
      .def("answers", &answers_of, "log_odds"_a, "gamma"_a, "low"_a, "high"_a, "extra"_a.none());
  m.def(
      "read_map", [](const std::string& path) { return read_map(read_result_file(path)); }, "path"_a);
  m.def(
      "parse_map",
      [](const std::string& text) {
        return read_map({"the result", text});
      },
      "text"_a);
  m.def("log_odds", &log_odds_of_all, "probabilities"_a);
}

}  // namespace

void bind_map(nb::module_& m) {
  bind_saved_map(m);
  nb::class_<PythonMap>(m, "Map", "Rows, their table, and the map.")
      .def("to_json", [](const PythonMap& self) { return map_json(self.record, self.result); })
      .def("table", [](const PythonMap& self) { return map_report(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonMap& self) { return self.result.warnings; });
  nb::class_<PythonMapUse>(m, "MapUse", "What a map answers about rows.")
      .def("to_json",
           [](const PythonMapUse& self) { return map_use_json(self.record, self.map, self.path, self.use); })
      .def(
          "table",
          [](const PythonMapUse& self) { return map_use_report(self.record, self.map, self.path, self.use); })
      .def_prop_ro("warnings", [](const PythonMapUse& self) { return self.use.warnings; });
  m.def(
      "map",
      [](const PythonModel& model, const PythonData& data, const std::string& outputs, std::size_t steps,
         std::size_t candidates, const std::optional<double>& lower, const std::optional<double>& upper,
         double ridge, std::size_t folds, const std::vector<std::string>& names,
         const std::optional<RowsArray>& values, const GammaArguments& arguments,
         const nb::object& progress) {
        AttackOptions search;
        search.steps = steps;
        search.candidates = candidates;
        if (lower) search.lower = *lower;
        if (upper) search.upper = *upper;
        MapFitOptions fit;
        fit.ridge = ridge;
        fit.folds = folds;
        return make_map(model, data, outputs, std::move(search), fit, names, values, arguments, progress);
      },
      "model"_a, "data"_a, "outputs"_a, "steps"_a, "candidates"_a, "lower"_a.none(), "upper"_a.none(),
      "ridge"_a, "folds"_a, "names"_a, "values"_a.none(), "arguments"_a, "progress"_a.none());
  m.def("use_map", &use_map, "map"_a, "path"_a, "model"_a, "data"_a, "names"_a, "values"_a.none(),
        "arguments"_a, "progress"_a.none());
}

}  // namespace harmonia::python
