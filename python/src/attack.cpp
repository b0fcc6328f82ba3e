#include "attack.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "harmonia/report/attack_report.hpp"
#include "measure.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

/// A result as Python holds it.
struct PythonAttack {
  AttackRunRecord record;
  AttackStudy study;
  std::vector<std::string> warnings;
  std::vector<double> adversarial;  // rows × features, NaN where a row was not attacked
};

// Of the arguments count those that are about models, features and the run.
PythonAttack run_attack(const PythonModel& model, const PythonData& data, AttackOptions options,
                        const std::optional<AttackMethod>& against, const GammaArguments& arguments,
                        const nb::object& progress) {
  PythonAttack result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    AttackRunRecord& record = result.record;
    record.data = data.data->info();
    record.model = model.info();
    record.options =
        options.image.channels > 0 ? std::move(options) : of_images(std::move(options), record.data.image);
    record.options.schema = schema_of(arguments, data.reference());
    record.against = against;
    record.confidence = arguments.options.confidence;
    record.model_output = arguments.model_output;
    record.margin = arguments.margin;
    record.scale = arguments.scale;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    const std::optional<ImageDescription>& images = arguments.images.description;
    record.options.gradient.probabilities |= images && images->probabilities && !record.margin;
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    result.study = attack_study(
        *model.model, *data.data, record.options, against, record.confidence, run, [&](const AttackRow& row) {
          if (row.adversarial.empty()) {
            result.adversarial.insert(result.adversarial.end(), record.data.inputs, NAN);
          } else {
            result.adversarial.insert(result.adversarial.end(), row.adversarial.begin(),
                                      row.adversarial.end());
          }
        });
    data.data->rewind();
    result.study.evaluations += record.model.example_rows;
    result.warnings = result.study.warnings;
    if (record.options.image.channels == 0) add_scale_warning(arguments, data, result.warnings);
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  return result;
}

// What attacks by gradients have of their own; None where the method chooses.
void bind_gradient_options(nb::module_& m) {
  nb::class_<GradientOptions>(m, "GradientOptions")
      .def(
          "__init__",
          [](GradientOptions* self, const std::optional<std::string>& norm,
             const std::optional<std::string>& target, double step_size, double decay, double penalty,
             double constant, double kappa, bool random_start, bool probabilities) {
            new (self) GradientOptions;
            if (norm) self->norm = parse_attack_norm(*norm);
            if (target) self->target = parse_attack_target(*target);
            self->step_size = step_size;
            self->decay = decay;
            self->penalty = penalty;
            self->constant = constant;
            self->kappa = kappa;
            self->random_start = random_start;
            self->probabilities = probabilities;
          },
          "norm"_a.none(), "target"_a.none(), "step_size"_a, "decay"_a, "penalty"_a, "constant"_a, "kappa"_a,
          "random_start"_a, "probabilities"_a);
}

}  // namespace

void bind_attack(nb::module_& m) {
  bind_gradient_options(m);
  nb::class_<PythonAttack>(m, "Attack", "Rows of another class near given ones.")
      .def("to_json",
           [](const PythonAttack& self) { return attack_json(self.record, self.study, self.warnings); })
      .def("table", [](const PythonAttack& self) { return attack_table(self.record, self.study); })
      .def("adversarial",
           [](const PythonAttack& self) {
             return numpy_array(std::vector<double>(self.adversarial), self.study.runs.front().rows.size());
           })
      .def_prop_ro("warnings", [](const PythonAttack& self) { return self.warnings; });
  m.def(
      "attack",
      [](const PythonModel& model, const PythonData& data, const std::string& method,
         const std::optional<std::string>& against, std::size_t steps, double radius,
         const std::optional<double>& lower, const std::optional<double>& upper, std::size_t candidates,
         double epsilon, bool paper, bool go_on, const GradientOptions& gradient,
         const std::vector<std::size_t>& image, const GammaArguments& arguments, const nb::object& progress) {
        AttackOptions options;
        options.method = parse_attack_method(method);
        const auto other = against ? std::optional(parse_attack_method(*against)) : std::nullopt;
        options.steps = steps > 0 ? steps
                                  : std::max(standard_steps(options.method),
                                             standard_steps(other.value_or(options.method)));
        options.radius = radius;
        if (lower) options.lower = *lower;
        if (upper) options.upper = *upper;
        options.candidates = candidates;
        options.epsilon = epsilon;
        options.paper = paper;
        options.go_on = go_on || paper;
        options.gradient = gradient;
        options.batch = arguments.options.batch;
        if (image.size() >= 2)
          options.image = {image[0], image[1], image.size() > 2 ? image[2] : std::size_t{1}};
        return run_attack(model, data, std::move(options), other, arguments, progress);
      },
      "model"_a, "data"_a, "method"_a, "against"_a.none(), "steps"_a, "radius"_a, "lower"_a.none(),
      "upper"_a.none(), "candidates"_a, "epsilon"_a, "paper"_a, "go_on"_a, "gradient"_a, "image"_a,
      "arguments"_a, "progress"_a.none());
}

}  // namespace harmonia::python
