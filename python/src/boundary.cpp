#include "boundary.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <limits>

#include "arrays.hpp"
#include "harmonia/report/boundary_report.hpp"
#include "measure.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

/// A result as Python holds it.
struct PythonBoundary {
  BoundaryRunRecord record;
  BoundaryResult result;

  // rows × features, NaN where a row has none.
  nb::object rows_of(std::vector<double> BoundaryRow::*field) const {
    std::vector<double> values;
    for (const BoundaryRow& row : result.rows) {
      const std::vector<double>& own = row.*field;
      values.insert(values.end(), own.begin(), own.end());
      if (own.empty())
        values.resize(values.size() + record.a.inputs, std::numeric_limits<double>::quiet_NaN());
    }
    return numpy_array(std::move(values), result.rows.size());
  }
};

// Steps, normal and step are the command's own; of the arguments count those that both commands have.
PythonBoundary measure_boundary(const PythonModel& model, const PythonData& a, const PythonData& b,
                                const GammaArguments& arguments, std::size_t steps, const std::string& normal,
                                double step, const nb::object& progress) {
  PythonBoundary result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    BoundaryRunRecord& record = result.record;
    record.model = model.info();
    record.a = a.data->info();
    record.b = b.data->info();
    record.options.steps = steps;
    record.options.normal = parse_normal(normal);
    record.options.step = step;
    record.options.schema = schema_of(arguments, a.reference());
    record.options.confidence = arguments.options.confidence;
    record.options.batch = arguments.options.batch;
    record.model_output = arguments.model_output;
    record.margin = arguments.margin;
    record.scale = arguments.scale;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    result.result.summary = boundary(*model.model, *a.data, *b.data, record.options, run,
                                     [&](const BoundaryRow& row) { result.result.rows.push_back(row); });
    a.data->rewind();
    b.data->rewind();
    result.result.summary.evaluations += record.model.example_rows;
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return result;
}

}  // namespace

void bind_boundary(nb::module_& m) {
  nb::class_<PythonBoundary>(m, "Boundary", "What the crossings of segments came to.")
      .def("to_json",
           [](const PythonBoundary& self) {
             return boundary_json(self.record, self.result, self.result.summary.warnings);
           })
      .def("table", [](const PythonBoundary& self) { return boundary_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonBoundary& self) { return self.result.summary.warnings; })
      .def("points", [](const PythonBoundary& self) { return self.rows_of(&BoundaryRow::point); })
      .def("normals", [](const PythonBoundary& self) { return self.rows_of(&BoundaryRow::normal); });
  m.def("boundary", &measure_boundary, "model"_a, "a"_a, "b"_a, "arguments"_a, "steps"_a, "normal"_a,
        "step"_a, "progress"_a.none());
}

}  // namespace harmonia::python
