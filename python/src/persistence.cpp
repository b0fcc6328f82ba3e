#include "persistence.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "harmonia/data/path_source.hpp"
#include "harmonia/report/persistence_report.hpp"
#include "measure.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

/// A result as Python holds it.
struct PythonPersistence {
  PersistenceRunRecord record;
  PersistenceResult result;
  std::vector<std::string> warnings;
};

// Of the arguments count those that are about models, features and the run. `end` is the other end of a path
// from the only row of `data`.
PythonPersistence measure_persistence(const PythonModel& model, const PythonData& data,
                                      const PythonData* against, const PythonData* end, std::size_t steps,
                                      PersistenceOptions options, bool range_given,
                                      const std::optional<double>& radius, const GammaArguments& arguments,
                                      const nb::object& progress) {
  PythonPersistence result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    PersistenceRunRecord& record = result.record;
    const std::unique_ptr<RowSource> path =
        end != nullptr ? make_path_source(*data.data, *end->data, steps) : nullptr;
    RowSource& rows = path ? *path : *data.data;
    record.data = rows.info();
    record.steps = path ? steps : 0;
    if (against != nullptr) record.against = against->data->info();
    record.radius = radius;
    record.model = model.info();
    record.options = std::move(options);
    record.options.noise.schema = schema_of(arguments, data.reference());
    if (!range_given && !record.options.paper)
      record.unit = scale_range(record.options, arguments.scale, data.reference());
    record.model_output = arguments.model_output;
    record.margin = arguments.margin;
    record.scale = arguments.scale;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    result.result = persistence_study(*model.model, rows, against != nullptr ? against->data.get() : nullptr,
                                      radius, record.options, run);
    result.result.evaluations += record.model.example_rows;
    result.warnings = result.result.warnings;
    add_scale_warning(arguments, data, result.warnings);
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return result;
}

}  // namespace

void bind_persistence(nb::module_& m) {
  nb::class_<PythonPersistence>(m, "Persistence", "How large the noise around rows may grow.")
      .def("to_json",
           [](const PythonPersistence& self) {
             return persistence_json(self.record, self.result, self.warnings);
           })
      .def("table", [](const PythonPersistence& self) { return persistence_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonPersistence& self) { return self.warnings; });
  m.def(
      "persistence",
      [](const PythonModel& model, const PythonData& data, const PythonData* against, const PythonData* end,
         std::size_t steps, const std::vector<double>& gammas,
         const std::optional<std::pair<double, double>>& sigma, double precision, std::uint64_t samples,
         bool paper, double paper_precision, const std::optional<double>& radius, const std::string& noise,
         const std::optional<RowsArray>& directions, const GammaArguments& arguments,
         const nb::object& progress) {
        PersistenceOptions options;
        options.gammas = gammas;
        if (sigma) std::tie(options.lowest, options.highest) = *sigma;
        options.precision = precision;
        if (samples > 0) (paper ? options.samples : options.most) = samples;
        options.paper = paper;
        options.paper_precision = paper_precision;
        options.confidence = arguments.options.confidence;
        options.batch = arguments.options.batch;
        options.noise.kind = parse_noise(noise);
        if (directions) {
          options.noise.directions = Matrix<double>(directions->shape(0), directions->shape(1));
          std::copy(directions->data(), directions->data() + directions->size(),
                    options.noise.directions.view().data);
        }
        return measure_persistence(model, data, against, end, steps, std::move(options), sigma.has_value(),
                                   radius, arguments, progress);
      },
      "model"_a, "data"_a, "against"_a.none(), "end"_a.none(), "steps"_a, "gammas"_a, "sigma"_a.none(),
      "precision"_a, "samples"_a, "paper"_a, "paper_precision"_a, "radius"_a.none(), "noise"_a,
      "directions"_a.none(), "arguments"_a, "progress"_a.none());
}

}  // namespace harmonia::python
