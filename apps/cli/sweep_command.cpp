#include "sweep_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/measure/scan.hpp"
#include "harmonia/measure/sweep.hpp"
#include "harmonia/report/sweep_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct SweepCommand {
  SubjectOptions subject;
  RunOptions run;
  GammaFlags flags;
  std::string radii, line;

  void execute();
};

void SweepCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model});
  complete(flags, subject);
  asked_options(flags);
  const std::vector<double> each = parse_radii(radii);
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  GammaRunRecord record = asked_record(flags, subject, what, line);
  record.options.ball.radius = each.front();
  if (run.dry_run) {
    return print_forecast(what, record.options, {subject.model}, each.size(), subject.model_options, run);
  }

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.model = what.model->info();
  state.ledger.spend(record.model.example_rows);
  WholeResult files(run);
  SweepResult result =
      measured(run, state, [&] { return sweep(*what.model, *what.data, each, record.options, state); });
  result.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> warnings;
  for (const SweepPoint& point : result.points) {
    for (const std::string& sentence : point.summary.warnings) {
      if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
        warnings.push_back(sentence);
    }
  }
  for (const std::string& sentence : scale_warnings(subject, what)) warnings.push_back(sentence);
  files.write([&] { return sweep_json(record, result, warnings); }, [&] { return sweep_csv(result); });
  if (run.quiet) return;
  fmt::print("{}", sweep_table(record, result));
  print_warnings(warnings);
}

}  // namespace

void add_sweep_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<SweepCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand("sweep", "How gamma grows with the radius");
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  app.add_option("--radii", command->radii,
                 "of the balls, in units of --scale: 0.01..0.5x20 (evenly spaced), log:0.001..1x20 (evenly "
                 "in the logarithm), 0.01,0.02,0.05")
      ->required()
      ->group("Ball");
  add_gamma_flags(app, command->flags, false);
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia sweep fn:f4?n=10 uniform:1000 --radii log:0.01..1x10
  harmonia sweep model.onnx rows.csv --radii 0.01..0.5x20 --scale std --json sweep.json

The same directions serve every radius. Where a model bends smoothly gamma grows as the radius squared; where
it jumps, as the radius.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
