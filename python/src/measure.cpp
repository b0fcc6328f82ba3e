#include "measure.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <mutex>

#include "harmonia/core/error.hpp"
#include "harmonia/data/spread.hpp"
#include "interrupt.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

constexpr std::chrono::milliseconds kBetween{100};  // two signs of progress

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

Average parse_average(const std::string& text) {
  if (text == "surface") return Average::surface;
  if (text == "solid") return Average::solid;
  throw Error(ErrorCode::usage, fmt::format("average '{}'; expected surface or solid", text));
}

// All that does not touch Python, but for a model that does.
void measure(const PythonModel& model, const GammaArguments& arguments, std::function<void(const Progress&)> progress,
             PythonResult& result) {
  const auto start = std::chrono::steady_clock::now();
  RowSource& data = *result.data.data;
  RowSource& reference = result.data.reference();
  data.rewind();
  GammaOptions options = arguments.options;
  options.ball = parse_ball(arguments.ball);
  options.ball.average = parse_average(arguments.average);
  options.output = parse_output(arguments.output);
  options.schema = schema_of(arguments, reference);
  options.ball.radius =
      arguments.radius ? *arguments.radius : automatic_radius(options.schema, reference, arguments.seed);
  const ModelInfo& info = model.model->info();
  Run run{.seed = arguments.seed,
          .threads = arguments.threads,
          .ledger = Ledger(arguments.max_evaluations > 0 ? arguments.max_evaluations : Ledger::kUnlimited),
          .progress = std::move(progress),
          .stop = model.stop.get_token()};
  run.ledger.spend(info.example_rows);
  result.record = {.model = info,
                   .data = data.info(),
                   .options = resolve(options, data.info().inputs),
                   .model_output = arguments.model_output,
                   .scale = arguments.scale,
                   .automatic_radius = !arguments.radius,
                   .has_schema = !options.schema.empty(),
                   .seed = arguments.seed,
                   .command_line = arguments.call};
  result.summary =
      gamma(*model.model, data, options, run, [&](const GammaRow& row) { result.rows.push_back(row); });
  result.summary.evaluations += info.example_rows;
  if (arguments.scale == "none" && arguments.schema_file.empty()) {
    if (const auto sentence = scale_warning(reference)) result.summary.warnings.push_back(*sentence);
  }
  result.record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Tells Python how far a run is, not too often. Call with the GIL held.
class Teller {
 public:
  explicit Teller(const nb::object& function) : function_(function) {}

  bool due() const { return !function_.is_none() && std::chrono::steady_clock::now() - last_ >= kBetween; }
  void tell(const Progress& progress) {
    last_ = std::chrono::steady_clock::now();
    function_(progress.rows_done, progress.rows, progress.evaluations);
  }

 private:
  const nb::object& function_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

PythonResult measure_gamma(const PythonModel& model, const PythonData& data, const GammaArguments& arguments,
                           const nb::object& progress) {
  PythonResult result;
  result.data = data;
  Teller teller(progress);
  if (model.callable) {
    // On this very thread, so that Ctrl-C, tracebacks and debuggers are as the function's author knows them.
    const nb::gil_scoped_release released;
    measure(
        model, arguments,
        [&](const Progress& now) {
          if (!teller.due()) return;
          const nb::gil_scoped_acquire held;
          teller.tell(now);
        },
        result);
    return result;
  }
  std::mutex mutex;
  Progress latest;
  run_interruptibly(
      model.stop,
      [&] {
        measure(
            model, arguments,
            [&](const Progress& now) {
              const std::lock_guard lock(mutex);
              latest = now;
            },
            result);
      },
      [&] {
        if (!teller.due()) return;
        Progress now;
        {
          const std::lock_guard lock(mutex);
          now = latest;
        }
        teller.tell(now);
      });
  return result;
}

std::string result_json(const PythonResult& result) {
  std::string text;
  GammaJsonWriter writer([&](std::string_view piece) { text += piece; }, result.record);
  for (const GammaRow& row : result.rows) writer.add(row);
  writer.finish(result.summary, result.record.seconds);
  return text;
}

}  // namespace harmonia::python
