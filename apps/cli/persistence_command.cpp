#include "persistence_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/path_source.hpp"
#include "harmonia/measure/persistence_study.hpp"
#include "harmonia/report/persistence_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "noise_flags.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct PersistenceCommand {
  SubjectOptions subject;
  RunOptions run;
  NoiseFlags noise;
  PersistenceOptions options;
  std::string gammas, sigma, method = "scan", against, line;
  std::vector<std::string> between;
  std::size_t steps = 50;
  std::optional<std::uint64_t> samples;
  std::optional<double> radius;

  void execute();
  PersistenceOptions asked() const;
  DataOptions other_data(const Subject& what) const;
  PersistenceRunRecord record_of(const Subject& what, PersistenceOptions asked_options) const;
  void print_forecast(const Subject& what, RowSource* others, const PersistenceOptions& asked_options) const;
};

std::vector<double> parse_gammas(const std::string& text) {
  std::vector<double> gammas;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto gamma = read_number(text.substr(at, comma - at));
    if (!gamma || !(*gamma > 0 && *gamma < 1)) {
      throw Error(ErrorCode::usage, fmt::format("--gamma {}: {}; expected numbers between 0 and 1",
                                                in_quotes(text), in_quotes(text.substr(at, comma - at))));
    }
    gammas.push_back(*gamma);
    at = comma + 1;
  }
  std::sort(gammas.begin(), gammas.end());
  gammas.erase(std::unique(gammas.begin(), gammas.end()), gammas.end());
  return gammas;
}

void parse_range(const std::string& text, PersistenceOptions& options) {
  const std::size_t dots = text.find("..");
  const auto low = read_number(text.substr(0, dots));
  const auto high = dots == std::string::npos ? std::nullopt : read_number(text.substr(dots + 2));
  if (!low || !high || !(*low > 0 && *low < *high && std::isfinite(*high))) {
    throw Error(ErrorCode::usage,
                fmt::format("--sigma {}; expected LOW..HIGH above 0, such as 0.001..100", in_quotes(text)));
  }
  options.lowest = *low;
  options.highest = *high;
}

// What can be known before anything is opened.
PersistenceOptions PersistenceCommand::asked() const {
  if (subject.data.empty()) throw Error(ErrorCode::usage, "no DATA; expected rows, or --between A B");
  PersistenceOptions all = options;
  all.gammas = parse_gammas(gammas);
  all.paper = method == "paper";
  if (samples) (all.paper ? all.samples : all.most) = *samples;
  if (!sigma.empty()) parse_range(sigma, all);
  all.confidence = noise.confidence;
  all.batch = noise.batch;
  return all;
}

// The other rows are read as DATA is.
DataOptions PersistenceCommand::other_data(const Subject& what) const {
  DataOptions other = subject.data_options;
  other.seed = subject.seed;
  other.inputs = what.data->info().inputs;
  return other;
}

PersistenceRunRecord PersistenceCommand::record_of(const Subject& what,
                                                   PersistenceOptions asked_options) const {
  PersistenceRunRecord record;
  record.options = std::move(asked_options);
  if (sigma.empty() && !record.options.paper)
    record.unit = scale_range(record.options, subject.scale, what.reference());
  record.scale = subject.scale;
  record.model_output = subject.model_options.output_name;
  record.margin = measures_margin(subject, what);
  record.seed = subject.seed;
  record.radius = radius;
  record.command_line = line;
  return record;
}

void PersistenceCommand::print_forecast(const Subject& what, RowSource* others,
                                        const PersistenceOptions& asked_options) const {
  const std::uint64_t rows = count_rows(*what.data) + (others != nullptr ? count_rows(*others) : 0);
  std::uint64_t opening =
      what.model ? what.model->info().example_rows : rows_to_open(subject.model, subject.model_options);
  if (others != nullptr) opening += rows;  // the model's confidence at them
  const PersistenceCost cost = persistence_cost(asked_options, rows);
  fmt::print(
      "{} × {}: likely from {} to {} evaluations, {} to {} a row; a class that ends all around a row takes "
      "few, one that ends on one side many, and a class that is never lost fewer than either; nothing was "
      "asked of the model\n",
      counted(rows, "row"), counted(asked_options.gammas.size(), "gamma"), cost.low + opening,
      cost.high + opening, cost.low / std::max<std::uint64_t>(1, rows),
      cost.high / std::max<std::uint64_t>(1, rows));
  if (radius) {
    GammaOptions ball;
    ball.ball.radius = *radius;
    fmt::print("and {} for gamma of radius {}\n", rows * gamma_cost(ball, what.data->info().inputs), *radius);
  }
  if (run.max_evaluations > 0 && cost.high > run.max_evaluations) {
    const std::uint64_t most = std::max<std::uint64_t>(1, cost.low / std::max<std::uint64_t>(1, rows)),
                        least = std::max<std::uint64_t>(1, cost.high / std::max<std::uint64_t>(1, rows));
    fmt::print("--max-evaluations {} is enough for about {} to {} rows\n", run.max_evaluations,
               run.max_evaluations / least, run.max_evaluations / most);
  }
}

void PersistenceCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  if (!between.empty()) subject.data = between[0];
  std::vector<std::string> read{subject.model, noise.directions, against.substr(0, against.find('#'))};
  if (!between.empty()) read.push_back(between[1].substr(0, between[1].find('#')));
  check_paths(run, subject, read);
  PersistenceOptions asked_options = asked();
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  asked_options.noise = asked_noise(noise, what);
  PersistenceRunRecord record = record_of(what, std::move(asked_options));
  std::unique_ptr<RowSource> others;
  if (!between.empty()) {
    const auto end = open_data(between[1], other_data(what));
    what.data = make_path_source(*what.data, *end, steps);
    record.steps = steps;
  } else if (!against.empty()) {
    others = open_data(against, other_data(what));
    if (what.model) check_columns(what.model->info(), others->info(), subject);
    record.against = others->info();
  }
  record.data = what.data->info();
  if (others && others->info().inputs != record.data.inputs) {
    throw Error(ErrorCode::input, fmt::format("{} has {} columns; {} has {}", others->info().source,
                                              others->info().inputs, record.data.source, record.data.inputs));
  }
  if (run.dry_run) return print_forecast(what, others.get(), record.options);

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.model = what.model->info();
  state.ledger.spend(record.model.example_rows);
  WholeResult files(run);
  PersistenceResult result = measured(run, state, [&] {
    return persistence_study(*what.model, *what.data, others.get(), radius, record.options, state);
  });
  result.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> warnings = result.warnings;
  for (const std::string& sentence : scale_warnings(subject, what)) warnings.push_back(sentence);
  files.write([&] { return persistence_json(record, result, warnings); },
              [&] { return persistence_csv(record, result); });
  if (run.quiet) return;
  fmt::print("{}", persistence_table(record, result));
  print_warnings(warnings);
}

void add_measure_flags(CLI::App& app, PersistenceCommand& command) {
  app.add_option("--gamma", command.gammas,
                 "share of the noise samples that must keep the row's class: 0.7, or 0.6,0.7,0.9")
      ->required()
      ->group("Measure");
  CLI::Option* sigma =
      app.add_option("--sigma", command.sigma,
                     "LOW..HIGH, where to look, in units of --scale [2^-20 to 2^20 times the data's scale: "
                     "the root mean square of its columns' deviations, 1 with --scale]")
          ->group("Noise");
  CLI::Option* precision =
      app.add_option("--precision", command.options.precision,
                     "stop when the interval is this share of sigma* to both sides [0.05]")
          ->check(finite_number("a number above 0 and below 1", [](double p) { return p > 0 && p < 1; }))
          ->group("Measure");
  app.add_option("--samples", command.samples,
                 "noise samples at one sigma, at most, and for one sigma* once it is bracketed [16384]; of "
                 "the paper's method, at every sigma [1000]")
      ->check(CLI::Range(1LL, 2147483648LL))
      ->group("Measure");
  CLI::Option* method =
      app.add_option("--method", command.method,
                     "scan: finds the first sigma at which the class is lost, with an interval; paper: the "
                     "paper's bracketing, to reproduce published numbers [scan]")
          ->check(CLI::IsMember({"scan", "paper"}))
          ->group("Measure");
  app.add_option("--paper-precision", command.options.paper_precision,
                 "of the paper's method: how close the share of samples must come to gamma [0.01]")
      ->check(finite_number("a number above 0 and below 1", [](double p) { return p > 0 && p < 1; }))
      ->needs(method)
      ->group("Measure");
  app.parse_complete_callback([&command, sigma, precision] {
    if (command.method != "paper") return;
    for (const CLI::Option* option : {sigma, precision}) {
      if (option->count() > 0) {
        throw Error(ErrorCode::usage, fmt::format("{} is of --method scan; the paper's bracketing has none",
                                                  option->get_name()));
      }
    }
  });
}

}  // namespace

void add_persistence_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<PersistenceCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand(
      "persistence", "How large the noise around every row may grow before its class is lost");
  CLI::Option* data = add_model_argument(app, command->subject)->required(false);
  add_subject_options(app, command->subject);
  add_measure_flags(app, *command);
  add_noise_flags(app, command->noise);
  CLI::Option* between =
      app.add_option("--between", command->between,
                     "two single rows, such as a.csv#0 b.csv#3: measure along the straight path between "
                     "them instead of DATA")
          ->type_name("A B")
          ->expected(2)
          ->excludes(data)
          ->group("Data");
  app.add_option("--steps", command->steps, "of the path [50]")
      ->check(CLI::Range(1, 1000000))
      ->needs(between)
      ->group("Data");
  CLI::Option* against =
      app.add_option("--against", command->against,
                     "other rows, read as DATA is, such as adversarial ones: how well does persistence tell "
                     "DATA from them?")
          ->type_name("DATA2")
          ->excludes(between)
          ->group("Data");
  app.add_option("--radius", command->radius,
                 "with --against: gamma of balls of this radius is compared as well")
      ->check(finite_number("a number above 0", [](double r) { return r > 0; }))
      ->needs(against)
      ->group("Measure");
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia persistence "fn:half-space?n=2&d=1" "grid:0..0.9x4,0..0x2" --gamma 0.7
  harmonia persistence digits.onnx digits.npy --gamma 0.6,0.7,0.9 --html persistence.html
  harmonia persistence digits.onnx digits.npy --gamma 0.7 --against attacked.npy
  harmonia persistence digits.onnx --between digits.npy#0 attacked.npy#0 --steps 50 --gamma 0.7

sigma* is the largest size of the noise such that at every smaller one at least the share gamma of the samples have
the row's class.

At the default --precision 0.05 a row takes 700 to 800 evaluations where the class ends all around it (a ball, a cone
of 60 degrees in 50 dimensions; RMS error 1.0 to 1.3 %) and 13,500 where it ends at a plane (2.0 %), measured against
known answers; at 0.02, 1,100 to 1,500 for 0.8 to 0.9 % of the former.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
