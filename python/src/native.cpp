#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "alignment.hpp"
#include "arrays.hpp"
#include "attack.hpp"
#include "boundary.hpp"
#include "callable_model.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/data/image_source.hpp"
#include "harmonia/measure/scan.hpp"
#include "harmonia/model/growing_trees.hpp"
#include "harmonia/model/image_model.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "harmonia/report/report_page.hpp"
#include "harmonia/report/stability_report.hpp"
#include "harmonia/report/sweep_report.hpp"
#include "map.hpp"
#include "measure.hpp"
#include "persistence.hpp"
#include "subject.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

void raise_error(const Error& error) {
  if (error.code() == ErrorCode::interrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return;
  }
  const char* const name = error.code() == ErrorCode::usage   ? "UsageError"
                           : error.code() == ErrorCode::input ? "InputError"
                                                              : "ModelError";
  const nb::object type = nb::module_::import_("harmonia._errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

ModelInfo python_info(const std::string& name, std::size_t inputs, bool float32, std::size_t batch) {
  ModelInfo info;
  info.name = name;
  info.kind = "python";
  info.inputs = inputs;
  info.scalar = float32 ? Scalar::float32 : Scalar::float64;
  info.preferred_threads = 1;
  info.preferred_batch = batch;
  return info;
}

PythonModel function_model(nb::object function, const std::string& name, const std::vector<double>& example,
                           bool float32, std::size_t batch, bool reentrant, bool missing, bool binary,
                           const std::vector<std::string>& features,
                           const std::vector<std::string>& classes) {
  ModelInfo info = python_info(name, example.size(), float32, batch);
  info.reentrant = reentrant;
  info.takes_missing = missing;
  info.binary = binary;
  info.features = features;
  info.classes = classes;
  return {.model = make_callable_model(std::move(function), {.info = std::move(info), .example = example}),
          .stop = {},
          .callable = true};
}

// A function that has gradients, and was asked how many outputs it has. Rows are images if these are
// described.
PythonModel module_model(nb::object function, nb::object gradient, const std::string& name,
                         std::size_t inputs, std::size_t outputs, std::size_t example_rows, bool float32,
                         std::size_t batch, bool missing, bool binary, const std::string& warning,
                         const std::vector<std::string>& features, const AskedImages& images) {
  ModelInfo info = python_info(name, inputs, float32, batch);
  info.outputs = outputs;
  info.example_rows = example_rows;
  info.reentrant = false;
  info.takes_missing = missing;
  info.binary = binary && outputs == 1;
  info.warning = warning;
  info.features = features;
  std::unique_ptr<Model> model = make_callable_model(
      std::move(function), {.info = std::move(info), .example = {}, .gradient = std::move(gradient)});
  if (images.description) model = make_image_model(std::move(model), *images.description, images.path);
  return {.model = std::move(model), .stop = {}, .callable = true};
}

TreeEnsemble read_trees(const nb::bytes& file, const std::string& kind, const std::string& name) {
  const std::string text(file.c_str(), file.size());
  return kind == "xgboost" ? read_xgboost(text, name) : read_lightgbm(text, name);
}

PythonModel tree_model(const nb::bytes& file, const std::string& kind, const std::string& name, bool margin,
                       bool complement, const std::vector<std::string>& classes) {
  TreeEnsemble trees = read_trees(file, kind, name);
  // An estimator's predict_proba, where the booster's predict gives the class.
  if (complement && !margin && trees.link.kind == TreeLink::Kind::largest)
    trees.link.kind = TreeLink::Kind::softmax;
  if (complement && trees.binary && !margin) {
    trees.link.complement = true;
    trees.binary = false;
  }
  return {.model = make_tree_model(trees, {.name = name, .kind = kind, .sha256 = {}, .margin = margin}),
          .stop = {},
          .callable = false,
          .classes = classes};
}

// A booster in training.
struct PythonGrowingModel : PythonModel {
  std::shared_ptr<GrowingTrees> trees;  // the model, which may be added to
};

PythonGrowingModel growing_model(const nb::bytes& file, const std::string& kind, const std::string& name,
                                 bool margin) {
  PythonGrowingModel made;
  made.trees = make_growing_trees(read_trees(file, kind, name),
                                  {.name = name, .kind = kind, .sha256 = {}, .margin = margin});
  made.model = made.trees;
  return made;
}

// False if the first `known` trees of the file are not the last of the model: then none is added.
bool add_trees(PythonGrowingModel& model, const nb::bytes& file, std::size_t known) {
  const ModelInfo& info = model.trees->info();
  TreeEnsemble more = read_trees(file, info.kind, info.name);
  if (known > more.trees.size()) return false;
  TreeEnsemble last = more;
  last.trees.resize(known);
  if (known > 0 && !model.trees->ends_with(last)) return false;
  more.trees.erase(more.trees.begin(), more.trees.begin() + static_cast<std::ptrdiff_t>(known));
  if (!more.trees.empty()) model.trees->add(more);
  return true;
}

nb::object evaluate(const PythonModel& model, const RowsArray& rows) {
  const ModelInfo& info = model.model->info();
  if (rows.shape(1) != info.inputs) {
    throw Error(ErrorCode::input, fmt::format("data has {} columns; model {} expects {}", rows.shape(1),
                                              info.name, info.inputs));
  }
  const std::size_t count = rows.shape(0);
  std::vector<double> y(count * info.outputs);
  if (info.scalar == Scalar::float32) {
    const std::vector<float> x(rows.data(), rows.data() + rows.size());
    model.model->evaluate(MatrixView<const float>{x.data(), count, info.inputs},
                          {y.data(), count, info.outputs});
  } else {
    model.model->evaluate(MatrixView<const double>{rows.data(), count, info.inputs},
                          {y.data(), count, info.outputs});
  }
  return numpy_array(std::move(y), count);
}

void bind_model(nb::module_& m) {
  nb::class_<PythonModel>(m, "Model", "A model that can be measured.")
      .def_prop_ro("name", [](const PythonModel& self) { return self.model->info().name; })
      .def_prop_ro("kind", [](const PythonModel& self) { return self.model->info().kind; })
      .def_prop_ro("inputs", [](const PythonModel& self) { return self.model->info().inputs; })
      .def_prop_ro("outputs", [](const PythonModel& self) { return self.model->info().outputs; })
      .def_prop_ro("features", [](const PythonModel& self) { return self.model->info().features; })
      .def_prop_ro("warning", [](const PythonModel& self) { return self.model->info().warning; })
      .def_prop_ro("classes", [](const PythonModel& self) { return self.info().classes; })
      .def("evaluate", &evaluate, "rows"_a);
  m.def("function_model", &function_model, "function"_a, "name"_a, "example"_a, "float32"_a, "batch"_a,
        "reentrant"_a, "missing"_a, "binary"_a, "features"_a, "classes"_a);
  m.def("module_model", &module_model, "function"_a, "gradient"_a, "name"_a, "inputs"_a, "outputs"_a,
        "example_rows"_a, "float32"_a, "batch"_a, "missing"_a, "binary"_a, "warning"_a, "features"_a,
        "images"_a);
  m.def("tree_model", &tree_model, "file"_a, "kind"_a, "name"_a, "margin"_a, "complement"_a, "classes"_a);
  nb::class_<PythonGrowingModel, PythonModel>(m, "GrowingModel", "Trees that more are added to.")
      .def("add", &add_trees, "file"_a, "known"_a)
      .def_prop_ro("trees", [](const PythonGrowingModel& self) { return self.trees->size(); });
  m.def("growing_model", &growing_model, "file"_a, "kind"_a, "name"_a, "margin"_a);
  m.def(
      "open_model",
      [](const std::string& address, const std::vector<double>& example, const std::string& kind,
         const std::vector<std::string>& headers, const std::string& ca_file, const std::string& output_name,
         double timeout, int retries, bool binary, bool missing, bool margin, const AskedImages& images,
         const std::string& device, bool fast_path) {
        return open_address(address,
                            {.kind = kind,
                             .headers = headers,
                             .ca_file = ca_file,
                             .output_name = output_name,
                             .timeout_seconds = timeout,
                             .retries = retries,
                             .stop = {},
                             .binary = binary,
                             .takes_missing = missing,
                             .device = device,
                             .fast_path = fast_path,
                             .margin = margin},
                            example, images);
      },
      "address"_a, "example"_a, "kind"_a, "headers"_a, "ca_file"_a, "output_name"_a, "timeout"_a, "retries"_a,
      "binary"_a, "missing"_a, "margin"_a, "images"_a, "device"_a, "fast_path"_a);
  m.def(
      "needs_example",
      [](const std::string& address, const std::string& kind) {
        ModelOptions options;
        options.kind = kind;
        return needs_example(address, options);
      },
      "address"_a, "kind"_a);
}

void bind_images(nb::module_& m) {
  nb::class_<AskedImages>(m, "Images", "How images come to a model.")
      .def(nb::init<>())
      .def_prop_ro("row_shape",
                   [](const AskedImages& self) {
                     return self.description ? model_row_shape(*self.description)
                                             : std::vector<std::size_t>();
                   })
      .def(
          "row",
          [](const AskedImages& self, const std::vector<double>& image) {
            return self.description ? model_row(*self.description, image) : image;
          },
          "image"_a)
      .def(
          "measures_logits",
          [](const AskedImages& self, const std::string& model, bool margin, const std::string& output) {
            ModelOptions options;
            options.margin = margin;
            options.output_name = output;
            return self.description && measures_logits(model, options, *self.description);
          },
          "model"_a, "margin"_a, "output"_a);
  m.def(
      "ask_images",
      [](const std::string& model, const std::string& description, const std::string& size, bool grey) {
        return ask_images(model, {.description = description, .size = size, .grey = grey});
      },
      "model"_a, "description"_a, "size"_a, "grey"_a);
  m.def("is_image_data", &is_image_data, "spec"_a);
}

void bind_data(nb::module_& m) {
  nb::class_<PythonData>(m, "Data", "Rows that a model is measured at.")
      .def_prop_ro("source", [](const PythonData& self) { return self.data->info().source; })
      .def_prop_ro("inputs", [](const PythonData& self) { return self.data->info().inputs; })
      .def_prop_ro("features", [](const PythonData& self) { return feature_names(self.data->info()); })
      .def("first_row", &first_row)
      .def("values", &all_rows);
  m.def(
      "memory_data",
      [](const nb::object& array, std::vector<std::string> names, std::vector<std::string> ids,
         std::vector<std::string> labels) {
        return rows_in_memory(nb::cast<RowsArray>(array, false), array, std::move(names), std::move(ids),
                              std::move(labels));
      },
      "array"_a, "names"_a, "ids"_a, "labels"_a);
  m.def(
      "open_data",
      [](const std::string& spec, const std::vector<std::string>& columns,
         const std::vector<std::string>& drop, const std::string& id, const std::string& label,
         std::size_t inputs, std::uint64_t seed, const AskedImages& images, const std::string& labels) {
        return rows_of(spec, {.columns = columns,
                              .drop = drop,
                              .id = id,
                              .label = label,
                              .inputs = inputs,
                              .seed = seed,
                              .image = images.shape,
                              .fit = images.fit,
                              .resize = images.resize,
                              .labels = labels});
      },
      "spec"_a, "columns"_a, "drop"_a, "id"_a, "label"_a, "inputs"_a, "seed"_a, "images"_a, "labels"_a);
}

template <class T>
auto set_option(T GammaOptions::*field) {
  return [field](GammaArguments& self, T value) { self.options.*field = value; };
}

void bind_arguments(nb::module_& m) {
  nb::class_<GammaArguments>(m, "Arguments", "What is asked, as the program's options ask it.")
      .def(nb::init<>())
      .def_rw("radius", &GammaArguments::radius)
      .def_rw("ball", &GammaArguments::ball)
      .def_rw("average", &GammaArguments::average)
      .def_rw("output", &GammaArguments::output)
      .def_prop_rw("sample", nullptr, set_option(&GammaOptions::sample))
      .def_prop_rw("precision", nullptr, set_option(&GammaOptions::precision))
      .def_prop_rw("floor", nullptr, set_option(&GammaOptions::floor))
      .def_prop_rw("confidence", nullptr, set_option(&GammaOptions::confidence))
      .def_prop_rw("explain", nullptr, set_option(&GammaOptions::explain))
      .def_prop_rw("paper", nullptr, set_option(&GammaOptions::paper))
      .def_prop_rw("batch", nullptr, set_option(&GammaOptions::batch))
      .def_rw("scale", &GammaArguments::scale)
      .def_rw("schema_file", &GammaArguments::schema_file)
      .def_rw("schema", &GammaArguments::schema)
      .def_rw("fixed", &GammaArguments::fixed)
      .def_rw("model_output", &GammaArguments::model_output)
      .def_rw("margin", &GammaArguments::margin)
      .def_rw("binary", &GammaArguments::binary)
      .def_rw("seed", &GammaArguments::seed)
      .def_rw("threads", &GammaArguments::threads)
      .def_rw("max_evaluations", &GammaArguments::max_evaluations)
      .def_rw("images", &GammaArguments::images)
      .def_rw("pixel_range", &GammaArguments::pixel_range)
      .def_rw("call", &GammaArguments::call);
  m.def("gamma", &measure_gamma, "model"_a, "data"_a, "arguments"_a, "progress"_a.none());
  m.def("compare", &measure_compare, "models"_a, "names"_a, "data"_a, "arguments"_a, "progress"_a.none());
  m.def("sweep", &measure_sweep, "model"_a, "data"_a, "radii"_a, "arguments"_a, "progress"_a.none());
  m.def("parse_radii", &parse_radii, "text"_a);
}

GammaColumns columns_of(const std::vector<double>& gamma, const std::vector<double>& split) {
  GammaColumns columns;
  columns.gamma = gamma;
  columns.split = split;
  columns.value.assign(gamma.size(), 0.0);  // no gamma is taken for rounding
  return columns;
}

void bind_comparison(nb::module_& m) {
  nb::class_<PythonComparison>(m, "Comparison", "What a comparison came to.")
      .def("to_json", [](const PythonComparison& self) { return compare_json(self.record, self.result); })
      .def("table", [](const PythonComparison& self) { return compare_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonComparison& self) { return self.record.warnings; })
      .def("gamma", [](const PythonComparison& self, std::size_t model) {
        return numpy_array(self.result.columns.at(model).gamma);
      });
  nb::class_<PythonSweep>(m, "Sweep", "What a sweep over radii came to.")
      .def("to_json",
           [](const PythonSweep& self) { return sweep_json(self.record, self.result, self.warnings); })
      .def("table", [](const PythonSweep& self) { return sweep_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonSweep& self) { return self.warnings; });
  m.def(
      "report_page", [](const std::vector<std::string>& results) { return report_page(results); },
      "results"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "paired_difference",
      [](const std::vector<double>& gamma_a, const std::vector<double>& split_a,
         const std::vector<double>& gamma_b, const std::vector<double>& split_b, double confidence) {
        const PairedDifference found =
            paired_difference(columns_of(gamma_a, split_a), columns_of(gamma_b, split_b), confidence);
        return nb::make_tuple(found.difference, found.low, found.high);
      },
      "gamma_a"_a, "split_a"_a, "gamma_b"_a, "split_b"_a, "confidence"_a);
}

constexpr std::size_t kPictures = 8;  // noise samples of a row that is a picture

void bind_stability(nb::module_& m) {
  nb::class_<PythonStability>(m, "Stability", "Which classes lie around rows.")
      .def(
          "to_json",
          [](const PythonStability& self) { return stability_json(self.record, self.result, self.warnings); })
      .def("table", [](const PythonStability& self) { return stability_table(self.record, self.result); })
      .def_prop_ro("warnings", [](const PythonStability& self) { return self.warnings; });
  m.def(
      "stability",
      [](const PythonModel& model, const PythonData& data, const std::vector<double>& sigmas,
         std::uint64_t samples, double half_width, std::optional<double> gamma, double within,
         const std::string& noise, const std::optional<RowsArray>& directions,
         const std::vector<std::size_t>& image, const GammaArguments& arguments, const nb::object& progress) {
        StabilityOptions options;
        options.sigmas = sigmas;
        options.samples = samples;
        options.half_width = half_width;
        options.gamma = gamma;
        options.margin = within;
        options.confidence = arguments.options.confidence;
        options.batch = arguments.options.batch;
        options.pictures = image.empty() ? 0 : kPictures;
        options.noise.kind = parse_noise(noise);
        if (directions) {
          options.noise.directions = Matrix<double>(directions->shape(0), directions->shape(1));
          std::copy(directions->data(), directions->data() + directions->size(),
                    options.noise.directions.view().data);
        }
        return measure_stability(model, data, std::move(options), image, arguments, progress);
      },
      "model"_a, "data"_a, "sigmas"_a, "samples"_a, "half_width"_a, "gamma"_a.none(), "within"_a, "noise"_a,
      "directions"_a.none(), "image"_a, "arguments"_a, "progress"_a.none());
  m.def("parse_sigmas", &parse_sigmas, "text"_a);
}

void bind_result(nb::module_& m) {
  nb::class_<PythonResult>(m, "Result", "What a measurement came to.")
      .def("columns", &result_columns)
      .def("summary", &result_summary)
      .def("to_json", &result_json, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("model", [](const PythonResult& self) { return self.record.model.name; })
      .def_prop_ro("kind", [](const PythonResult& self) { return self.record.model.kind; })
      .def_prop_ro("outputs", [](const PythonResult& self) { return self.record.model.outputs; })
      .def_prop_ro("classes", [](const PythonResult& self) { return self.record.model.classes; })
      .def_prop_ro("source", [](const PythonResult& self) { return self.record.data.source; })
      .def_prop_ro("features", [](const PythonResult& self) { return feature_names(self.record.data); })
      .def_prop_ro("radius", [](const PythonResult& self) { return self.record.options.ball.radius; })
      .def_prop_ro("ball", [](const PythonResult& self) { return ball_name(self.record.options.ball); })
      .def_prop_ro("output", [](const PythonResult& self) { return output_name(self.record.options.output); })
      .def_prop_ro("confidence", [](const PythonResult& self) { return self.record.options.confidence; })
      .def_prop_ro("seed", [](const PythonResult& self) { return self.record.seed; })
      .def_prop_ro("seconds", [](const PythonResult& self) { return self.record.seconds; })
      .def("values", [](PythonResult& self) { return all_rows(self.data); });
  nb::list outcomes;
  for (int i = 0; i <= static_cast<int>(Outcome::undefined); ++i) {
    outcomes.append(nb::cast(outcome_name(static_cast<Outcome>(i))));
  }
  m.attr("OUTCOMES") = outcomes;
}

}  // namespace
}  // namespace harmonia::python

NB_MODULE(_native, m) {
  m.doc() = "The C++ library behind the package harmonia.";
  m.attr("__version__") = HARMONIA_VERSION;
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const harmonia::Error& error) {
      harmonia::python::raise_error(error);
    }
  });
  harmonia::python::bind_model(m);
  harmonia::python::bind_images(m);
  harmonia::python::bind_data(m);
  harmonia::python::bind_arguments(m);
  harmonia::python::bind_result(m);
  harmonia::python::bind_comparison(m);
  harmonia::python::bind_stability(m);
  harmonia::python::bind_boundary(m);
  harmonia::python::bind_map(m);
  harmonia::python::bind_persistence(m);
  harmonia::python::bind_attack(m);
  harmonia::python::bind_alignment(m);
  harmonia::python::bind_text(m);
}
