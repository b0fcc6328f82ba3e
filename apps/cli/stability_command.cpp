#include "stability_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/scan.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/report/stability_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "noise_flags.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kPictures = 8;  // noise samples of a row that is a picture

struct StabilityCommand {
  SubjectOptions subject;
  RunOptions run;
  NoiseFlags noise;
  StabilityOptions options;
  std::string sigmas, image, line;

  void execute();
  StabilityOptions asked() const;
  StabilityRunRecord record_of(const Subject& what, StabilityOptions asked_options) const;
  void print_forecast(const Subject& what, const StabilityOptions& asked_options) const;
};

// HEIGHTxWIDTH.
void parse_image(const std::string& text, std::size_t inputs, StabilityRunRecord& record) {
  const std::size_t times = std::min(text.find('x'), text.size());
  const char* const end = text.data() + text.size();
  const auto height = std::from_chars(text.data(), text.data() + times, record.height);
  const auto width = std::from_chars(std::min(text.data() + times + 1, end), end, record.width);
  if (height.ec != std::errc{} || height.ptr != text.data() + times || width.ec != std::errc{} ||
      width.ptr != end || record.height * record.width != inputs) {
    throw Error(ErrorCode::usage, fmt::format("--image {}; expected HEIGHTxWIDTH of rows of {} features",
                                              in_quotes(text), inputs));
  }
}

// What can be known before anything is opened.
StabilityOptions StabilityCommand::asked() const {
  StabilityOptions all = options;
  all.sigmas = parse_sigmas(sigmas);
  all.confidence = noise.confidence;
  all.batch = noise.batch;
  if (!image.empty()) all.pictures = kPictures;
  if (all.gamma && all.sigmas.size() > 1) {
    throw Error(ErrorCode::usage, fmt::format("--gamma asks about one sigma; --sigma {} are {}",
                                              in_quotes(sigmas), all.sigmas.size()));
  }
  return all;
}

StabilityRunRecord StabilityCommand::record_of(const Subject& what, StabilityOptions asked_options) const {
  StabilityRunRecord record;
  record.options = std::move(asked_options);
  record.data = what.data->info();
  record.scale = subject.scale;
  record.model_output = subject.model_options.output_name;
  record.margin = measures_margin(subject, what);
  record.seed = subject.seed;
  record.command_line = line;
  if (!image.empty()) parse_image(image, record.data.inputs, record);
  return record;
}

void StabilityCommand::print_forecast(const Subject& what, const StabilityOptions& asked_options) const {
  const std::uint64_t rows = count_rows(*what.data), samples = stability_samples(asked_options);
  const std::uint64_t opening =
      what.model ? what.model->info().example_rows : rows_to_open(subject.model, subject.model_options);
  const std::uint64_t all = stability_cost(asked_options, rows) + opening;
  const char* most = asked_options.gamma ? "at most " : "";
  if (asked_options.gamma) {
    fmt::print("{}\n",
               stability_looks_text(asked_options, stability_looks(*asked_options.gamma, asked_options.margin,
                                                                   asked_options.confidence)));
  }
  fmt::print(
      "{} × {} × {}{} = {}{} evaluations with those of the rows themselves and of points asked twice; "
      "nothing was asked of the model\n",
      counted(rows, "row"), counted(asked_options.sigmas.size(), "sigma"), most, counted(samples, "sample"),
      most, all);
  if (run.max_evaluations > 0 && all > run.max_evaluations) {
    const std::uint64_t each = 1 + samples * asked_options.sigmas.size();
    fmt::print("--max-evaluations {} is enough for about {}\n", run.max_evaluations,
               counted((run.max_evaluations - std::min(opening, run.max_evaluations)) / each, "row"));
  }
}

void StabilityCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model, noise.directions});
  StabilityOptions asked_options = asked();
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  asked_options.noise = asked_noise(noise, what);
  StabilityRunRecord record = record_of(what, std::move(asked_options));
  if (run.dry_run) return print_forecast(what, record.options);

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.model = what.model->info();
  state.ledger.spend(record.model.example_rows);
  WholeResult files(run);
  StabilityResult result =
      measured(run, state, [&] { return stability(*what.model, *what.data, record.options, state); });
  result.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> warnings = result.warnings;
  for (const std::string& sentence : scale_warnings(subject, what)) warnings.push_back(sentence);
  files.write([&] { return stability_json(record, result, warnings); },
              [&] { return stability_csv(record, result); });
  if (run.quiet) return;
  fmt::print("{}", stability_table(record, result));
  print_warnings(warnings);
}

}  // namespace

void add_stability_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<StabilityCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app =
      *program.add_subcommand("stability", "Which classes lie around every row, and how far its own reaches");
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  app.add_option("--sigma", command->sigmas,
                 "sizes of the noise, in units of --scale: 0.01..2x100 (evenly spaced), log:0.001..1x20 "
                 "(evenly in the logarithm), 0.1,0.2,0.5")
      ->required()
      ->group("Noise");
  add_noise_flags(app, command->noise);
  CLI::Option* samples = app.add_option("--samples", command->options.samples,
                                        "noise samples around every row at every sigma [1000]")
                             ->check(CLI::Range(1LL, 4294967296LL))
                             ->group("Measure");
  CLI::Option* half_width =
      app.add_option("--half-width", command->options.half_width,
                     "… or as many as make every interval this narrow to both sides")
          ->check(finite_number("a number above 0 and below 0.5", [](double w) { return w > 0 && w < 0.5; }))
          ->excludes(samples)
          ->group("Measure");
  CLI::Option* gamma =
      app.add_option(
             "--gamma", command->options.gamma,
             "ask of one sigma: do at least this share of samples have the row's class? Draws as many "
             "as the answer needs")
          ->check(finite_number("a number between 0 and 1", [](double g) { return g > 0 && g < 1; }))
          ->excludes(samples)
          ->excludes(half_width)
          ->group("Measure");
  app.add_option(
         "--within", command->options.margin,
         "of --gamma: a row is borderline if gamma lies in its interval, which is at most ± this wide [0.01]")
      ->check(finite_number("a number above 0 and below 0.5", [](double w) { return w > 0 && w < 0.5; }))
      ->needs(gamma)
      ->group("Measure");
  app.add_option("--image", command->image,
                 "rows are grey pictures: keep noise samples of up to 10 rows for the page")
      ->type_name("HEIGHTxWIDTH")
      ->group("Result");
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia stability "fn:half-space?n=2&d=1" "grid:0..0.9x4,0..1x2" --sigma log:0.1..10x9
  harmonia stability digits.onnx digits.npy#7 --sigma 0.01..2x100 --image 28x28 --html curve.html
  harmonia stability digits.onnx digits.npy --sigma 0.5 --gamma 0.7 --csv stable.csv

A row is (gamma, sigma)-stable if at least the share gamma of the noise samples of size sigma around it have its
class. The certified radius is the distance, in units of --scale, within which the most probable class under the
noise cannot change. There is none with --noise ball, with --directions, or where the schema has features that are
fixed, bounded or whole.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
