#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harmonia/core/error.hpp"
#include "harmonia/data/spread.hpp"
#include "run_measure.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

Average parse_average(const std::string& text) {
  if (text == "surface") return Average::surface;
  if (text == "solid") return Average::solid;
  throw Error(ErrorCode::usage, fmt::format("average '{}'; expected surface or solid", text));
}

// What of `more` is not there yet.
void add_warnings(const std::vector<std::string>& more, std::vector<std::string>& warnings) {
  for (const std::string& sentence : more) {
    if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end()) warnings.push_back(sentence);
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Schema schema_of(const GammaArguments& arguments, RowSource& reference) {
  const std::vector<std::string> names = feature_names(reference.info());
  Schema schema;
  if (arguments.schema) {
    schema = read_schema(*arguments.schema, arguments.schema_file, names);
  } else if (!arguments.schema_file.empty()) {
    schema = load_schema(arguments.schema_file, names);
  } else if (arguments.scale != "none" || !arguments.fixed.empty()) {
    schema = plain_schema(names);
  }
  for (const std::size_t column : arguments.fixed) schema.at(column).fixed = true;
  scale_features(schema, arguments.scale, reference);
  return schema;
}

GammaRunRecord asked_record(const GammaArguments& arguments, const PythonData& rows) {
  GammaOptions options = arguments.options;
  const ImageShape& image = rows.data->info().image;
  const bool large = image.values() > kWholeBallValues;
  options.ball = parse_ball(!arguments.ball.empty() ? arguments.ball : large ? "pixel" : "simplex+anti");
  options.ball.image = image;
  options.ball.average = parse_average(arguments.average);
  options.output = parse_output(arguments.output);
  options.schema = schema_of(arguments, rows.reference());
  options.ball.radius = arguments.radius ? *arguments.radius
                                         : automatic_radius(options.schema, rows.reference(), arguments.seed);
  GammaRunRecord record;
  record.data = rows.data->info();
  record.options = resolve(options, record.data.inputs);
  record.model_output = arguments.model_output;
  record.margin = arguments.margin;
  record.scale = arguments.scale;
  record.automatic_radius = !arguments.radius;
  record.has_schema = !options.schema.empty();
  record.description = arguments.images.description;
  record.description_path = arguments.images.path;
  record.pixel_range = parse_pixel_range(arguments.pixel_range);
  if (image.values() > 0) {
    bound_pixels(record.options.schema, image.values(), record.pixel_range);
  } else if (record.pixel_range != PixelRange::free) {
    throw Error(ErrorCode::usage, fmt::format("pixel_range is of images; {} is a table", record.data.source));
  }
  record.seed = arguments.seed;
  record.command_line = arguments.call;
  return record;
}

Run new_run(const GammaArguments& arguments, const PythonModel& model, ProgressSink progress) {
  return {.seed = arguments.seed,
          .threads = arguments.threads,
          .ledger = Ledger(arguments.max_evaluations > 0 ? arguments.max_evaluations : Ledger::kUnlimited),
          .progress = std::move(progress),
          .stop = model.stop.get_token()};
}

void add_scale_warning(const GammaArguments& arguments, const PythonData& rows,
                       std::vector<std::string>& warnings) {
  if (arguments.scale != "none" || !arguments.schema_file.empty()) return;
  if (rows.data->info().image.values() > 0) return;  // pixels have one unit
  if (const auto& sentence = rows.scale_warning()) warnings.push_back(*sentence);
}

PythonResult measure_gamma(const PythonModel& model, const PythonData& data, const GammaArguments& arguments,
                           const nb::object& progress) {
  PythonResult result;
  result.data = data;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    result.record = asked_record(arguments, data);
    result.record.model = model.info();
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(result.record.model.example_rows);
    result.summary = gamma(*model.model, *data.data, result.record.options, run,
                           [&](const GammaRow& row) { result.rows.push_back(row); });
    data.data->rewind();
    ExtremeRows extremes;
    for (const GammaRow& row : result.rows) extremes.add(row);
    result.images = shown_images(*data.data, extremes);
    result.summary.evaluations += result.record.model.example_rows;
    add_scale_warning(arguments, data, result.summary.warnings);
    result.record.seconds = seconds_since(start);
  });
  return result;
}

PythonComparison measure_compare(const std::vector<const PythonModel*>& models,
                                 const std::vector<std::string>& names, const PythonData& data,
                                 const GammaArguments& arguments, const nb::object& progress) {
  PythonComparison result;
  run_measure(models, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    result.record.asked = asked_record(arguments, data);
    result.record.asked.model.binary = arguments.binary;
    Run run = new_run(arguments, *models.front(), std::move(sink));
    std::vector<const Model*> compared;
    std::size_t opening = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      compared.push_back(models[i]->model.get());
      result.record.models.push_back(models[i]->info());
      result.record.models.back().name = names[i];
      opening += compared.back()->info().example_rows;
    }
    run.ledger.spend(opening);
    result.result = compare(compared, *data.data, result.record.asked.options, run);
    data.data->rewind();
    result.result.evaluations += opening;
    for (const GammaSummary& summary : result.result.summaries)
      add_warnings(summary.warnings, result.record.warnings);
    add_scale_warning(arguments, data, result.record.warnings);
    result.record.asked.seconds = seconds_since(start);
  });
  return result;
}

PythonSweep measure_sweep(const PythonModel& model, const PythonData& data, const std::vector<double>& radii,
                          const GammaArguments& arguments, const nb::object& progress) {
  PythonSweep result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    result.record = asked_record(arguments, data);
    result.record.model = model.info();
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(result.record.model.example_rows);
    result.result = sweep(*model.model, *data.data, radii, result.record.options, run);
    data.data->rewind();
    result.result.evaluations += result.record.model.example_rows;
    for (const SweepPoint& point : result.result.points)
      add_warnings(point.summary.warnings, result.warnings);
    add_scale_warning(arguments, data, result.warnings);
    result.record.seconds = seconds_since(start);
  });
  return result;
}

PythonStability measure_stability(const PythonModel& model, const PythonData& data, StabilityOptions options,
                                  const std::vector<std::size_t>& image, const GammaArguments& arguments,
                                  const nb::object& progress) {
  PythonStability result;
  run_measure({&model}, progress, [&](ProgressSink sink) {
    const auto start = std::chrono::steady_clock::now();
    StabilityRunRecord& record = result.record;
    record.data = data.data->info();
    record.model = model.info();
    record.options = std::move(options);
    record.options.noise.schema = schema_of(arguments, data.reference());
    record.model_output = arguments.model_output;
    record.margin = arguments.margin;
    record.scale = arguments.scale;
    record.seed = arguments.seed;
    record.command_line = arguments.call;
    if (image.size() == 2) {
      record.height = image[0];
      record.width = image[1];
      if (record.height * record.width != record.data.inputs) {
        throw Error(ErrorCode::usage, fmt::format("image is {} × {}; rows have {} features", record.height,
                                                  record.width, record.data.inputs));
      }
    }
    Run run = new_run(arguments, model, std::move(sink));
    run.ledger.spend(record.model.example_rows);
    result.result = stability(*model.model, *data.data, record.options, run);
    data.data->rewind();
    result.result.evaluations += record.model.example_rows;
    result.warnings = result.result.warnings;
    add_scale_warning(arguments, data, result.warnings);
    record.seconds = seconds_since(start);
  });
  return result;
}

std::string result_json(const PythonResult& result) {
  std::string text;
  GammaJsonWriter writer([&](std::string_view piece) { text += piece; }, result.record);
  for (const GammaRow& row : result.rows) writer.add(row);
  writer.finish(result.summary, result.record.seconds, result.images);
  return text;
}

}  // namespace harmonia::python
