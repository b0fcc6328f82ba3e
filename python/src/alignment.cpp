#include "alignment.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>

#include "harmonia/data/manifold.hpp"
#include "harmonia/report/alignment_report.hpp"
#include "measure.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

/// A result as Python holds it.
struct PythonAlignment {
  AlignmentRunRecord record;
  AlignmentResult result;
};

// Of the arguments count those that are about the run. Without `plane` it is fitted to the data itself.
PythonAlignment measure_alignment(const PythonModel& model, const PythonData& data, const PythonData* plane,
                                  const AlignmentOptions& options, const ManifoldOptions& manifold,
                                  const GammaArguments& arguments, const nb::object& progress) {
  PythonAlignment result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    AlignmentRunRecord& record = result.record;
    record.model = model.info();
    record.data = data.data->info();
    record.options = options;
    const std::optional<ImageDescription>& images = arguments.images.description;
    record.options.probabilities |= images && images->probabilities && !arguments.margin;
    record.manifold = manifold;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    check_alignment(*model.model, record.data);
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    RowSource& fitted = plane != nullptr ? *plane->data : data.reference();
    record.plane = fitted.info();
    check_same_columns(record.plane, record.data);
    const ComponentsFound components = principal_components(fitted, manifold, run.stop);
    fitted.rewind();
    record.explained = components.explained;
    record.plane_rows = components.rows;
    result.result = alignment(*model.model, *data.data, components, record.options, run);
    data.data->rewind();
    result.result.evaluations += record.model.example_rows;
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return result;
}

}  // namespace

void bind_alignment(nb::module_& m) {
  nb::class_<PythonAlignment>(m, "Alignment", "Where a model's gradients point.")
      .def("to_json", [](const PythonAlignment& self) { return alignment_json(self.record, self.result); })
      .def("table", [](const PythonAlignment& self) { return alignment_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonAlignment& self) { return self.result.warnings; });
  m.def(
      "alignment",
      [](const PythonModel& model, const PythonData& data, const PythonData* plane, std::size_t components,
         bool by_label, const std::string& gradient, bool probabilities, bool paper,
         const GammaArguments& arguments, const nb::object& progress) {
        AlignmentOptions options;
        options.gradient = parse_aligned_gradient(gradient);
        options.probabilities = probabilities;
        options.paper = paper;
        options.confidence = arguments.options.confidence;
        options.batch = arguments.options.batch;
        return measure_alignment(model, data, plane, options,
                                 {.components = components, .by_label = by_label}, arguments, progress);
      },
      "model"_a, "data"_a, "plane"_a.none(), "components"_a, "by_label"_a, "gradient"_a, "probabilities"_a,
      "paper"_a, "arguments"_a, "progress"_a.none());
}

}  // namespace harmonia::python
