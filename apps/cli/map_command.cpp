#include "map_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "asked_map.hpp"
#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/gamma_map.hpp"
#include "harmonia/model/logit_model.hpp"
#include "harmonia/report/map_report.hpp"
#include "harmonia/search/map_search.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

using Clock = std::chrono::steady_clock;

struct MapCommand {
  SubjectOptions subject;
  RunOptions run;
  GammaFlags flags;
  AttackOptions search;
  MapFitOptions fit;
  std::string outputs = "logits", use, with_file, line;
  std::vector<std::string> with;
  Clock::time_point start;

  void execute();

 private:
  void make_map(Subject& what, const std::stop_token& stop);
  void use_map(Subject& what, const SavedMap& map, const std::stop_token& stop);
  void print_forecast(const Subject& what, const GammaOptions& options) const;
  std::optional<MapVariables> read_asked_variables(RowSource& data) const;
  AttackOptions asked_search(const GammaOptions& options, const DataInfo& data) const;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

AttackOptions MapCommand::asked_search(const GammaOptions& options, const DataInfo& data) const {
  AttackOptions asked = search;
  asked.radius = options.ball.radius;
  asked.paper = options.paper;
  asked.go_on = true;
  asked.schema = options.schema;
  asked.batch = options.batch;
  return of_images(std::move(asked), data.image);
}

// Before anything is asked of the model: a file that is of no use is refused at once.
std::optional<MapVariables> MapCommand::read_asked_variables(RowSource& data) const {
  if (with.empty() && with_file.empty()) return std::nullopt;
  DataOptions options;
  options.columns = with;
  if (!with_file.empty()) options.id = subject.data_options.id;
  const std::string& file = with_file.empty() ? subject.data : with_file;
  MapVariables variables = read_variables(*open_whole_data(file, options));
  check_variables(data, variables);
  return variables;
}

void MapCommand::print_forecast(const Subject& what, const GammaOptions& options) const {
  const std::size_t inputs = what.data->info().inputs;
  const std::uint64_t rows = count_rows(*what.data), measure = 1 + gamma_cost(options, inputs);
  const std::uint64_t searches =
      use.empty() ? attack_cost(asked_search(options, what.data->info()), inputs) : 0;
  const std::uint64_t opening =
      what.model ? what.model->info().example_rows : rows_to_open(subject.model, subject.model_options);
  fmt::print("{} × {}{}{} = at most {} evaluations; nothing was asked of the model\n", counted(rows, "row"),
             use.empty() ? "(" : "", measure,
             use.empty() ? fmt::format(" + at most {} of the search)", searches) : "",
             rows * (measure + searches) + opening);
}

void MapCommand::make_map(Subject& what, const std::stop_token& stop) {
  MapRunRecord record;
  record.gamma = asked_record(flags, subject, what, line);
  record.gamma.options.output = {};
  record.probabilities = outputs == "probabilities";
  const AttackOptions asked = asked_search(record.gamma.options, what.data->info());
  record.step = asked.radius;
  record.candidates = asked.candidates;
  record.lower = asked.lower;
  record.upper = asked.upper;
  record.fit = fit;
  record.fit.confidence = record.gamma.options.confidence;
  record.fit.seed = subject.seed;
  const std::optional<MapVariables> variables = read_asked_variables(*what.data);
  if (run.dry_run) return print_forecast(what, record.gamma.options);

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.gamma.model = what.model->info();
  state.ledger.spend(record.gamma.model.example_rows);
  const std::unique_ptr<Model> model = make_logit_model(*what.model, record.probabilities);
  WholeResult files(run);
  MapResult result;
  result.rows = measured(
      run, state, [&] { return measure_and_search(*model, *what.data, record.gamma.options, asked, state); });
  if (variables) enter_variables(result.rows, *variables);
  result.evaluations = state.ledger.spent();
  result.table = map_table(result.rows);
  result.fit = fit_map(result.rows, record.fit, model->info().scalar);
  result.warnings = result.rows.warnings;
  for (const std::string& sentence : result.fit.warnings) result.warnings.push_back(sentence);
  for (const std::string& sentence : scale_warnings(subject, what)) result.warnings.push_back(sentence);
  record.gamma.seconds = seconds();
  files.write([&] { return map_json(record, result); }, [&] { return map_csv(result); });
  if (run.quiet) return;
  fmt::print("{}", map_report(record, result));
  print_warnings(result.warnings);
}

void MapCommand::use_map(Subject& what, const SavedMap& map, const std::stop_token& stop) {
  MapRunRecord record;
  record.gamma = asked_record(flags, subject, what, line);
  measure_as(map, flags.options.batch, record.gamma);
  record.probabilities = map.probabilities;
  const std::optional<MapVariables> variables = read_asked_variables(*what.data);
  map.map.check_variables(variables ? variables->names.size() : 0);
  if (run.dry_run) return print_forecast(what, record.gamma.options);

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.gamma.model = what.model->info();
  state.ledger.spend(record.gamma.model.example_rows);
  const std::unique_ptr<Model> model = make_logit_model(*what.model, record.probabilities);
  WholeResult files(run);
  MapUse answered;
  answered.rows = measured(
      run, state, [&] { return map_rows(*model, *what.data, record.gamma.options, map.steps, state); });
  if (variables) enter_variables(answered.rows, *variables);
  answered.answers = ask_map(map.map, answered.rows);
  answered.evaluations = state.ledger.spent();
  answered.warnings = answered.rows.warnings;
  if (const auto sentence = other_model(map, record.gamma.model)) answered.warnings.push_back(*sentence);
  record.gamma.seconds = seconds();
  files.write([&] { return map_use_json(record, map, use, answered); },
              [&] { return map_use_csv(answered); });
  if (run.quiet) return;
  fmt::print("{}", map_use_report(record, map, use, answered));
  print_warnings(answered.warnings);
}

void MapCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  start = Clock::now();
  check_paths(run, subject, {subject.model, use, with_file});
  complete(flags, subject);
  if (use.empty() && flags.radius.empty())
    throw Error(ErrorCode::usage, "expected --radius R to make a map, or --use FILE to ask one");
  asked_options(flags);
  std::optional<SavedMap> map;
  if (!use.empty()) map = read_asked_map(use, subject.model_options);
  // Variables that come from the data itself are not fed to the model.
  if (with_file.empty() && subject.data_options.columns.empty()) {
    for (const std::string& name : with) subject.data_options.drop.push_back(name);
  }
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  if (map) {
    use_map(what, *map, stop);
  } else {
    make_map(what, stop);
  }
}

}  // namespace

void add_map_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<MapCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand(
      "map", "Which rows outlast a search for another class, and a map that tells without one");
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  app.add_option(
         "--outputs", command->outputs,
         "what the model's outputs are: logits, or probabilities, of which the logarithm is taken [logits]")
      ->check(CLI::IsMember({"logits", "probabilities"}))
      ->group("Model");
  app.add_option(
         "--radius", command->flags.radius,
         "of the ball, and a search's step, in units of --scale; auto: a tenth of the median distance to "
         "the nearest row")
      ->group("Ball");
  add_gamma_flags(app, command->flags, false);
  app.remove_option(app.get_option("--output"));
  app.add_option("--steps", command->search.steps, "N: features that a search changes one after another [25]")
      ->check(CLI::Range(1, 1000000))
      ->group("Search");
  app.add_option("--candidates", command->search.candidates, "features that it tries a step [20]")
      ->check(CLI::Range(1, 1000000))
      ->group("Search");
  app.add_option("--lower", command->search.lower, "features stay above this")
      ->check(finite_number("a number", [](double) { return true; }))
      ->group("Search");
  app.add_option("--upper", command->search.upper, "… and below this")
      ->check(finite_number("a number", [](double) { return true; }))
      ->group("Search");
  app.add_option(
         "--with", command->with,
         "columns that the map takes besides P and gamma; not fed to the model unless --columns names them")
      ->delimiter(',')
      ->type_name("COLUMN")
      ->group("Map");
  app.add_option("--with-file", command->with_file,
                 "a file of such columns, all of them without --with; rows by --id, or in the data's order")
      ->type_name("FILE")
      ->group("Map");
  app.add_option("--ridge", command->fit.ridge,
                 "of the logistic regression, on inputs of mean 0 and deviation 1 [0.1]")
      ->check(finite_number("a number above 0", [](double ridge) { return ridge > 0; }))
      ->group("Map");
  app.add_option("--folds", command->fit.folds, "of the cross-validation [10]")
      ->check(CLI::Range(2, 1000))
      ->group("Map");
  CLI::Option* use = app.add_option("--use", command->use,
                                    "ask the map in this result about the rows: no search, gamma as it was "
                                    "measured then")
                         ->type_name("FILE")
                         ->group("Map");
  exclude_measuring(*use);
  for (const char* other :
       {"--outputs", "--steps", "--candidates", "--lower", "--upper", "--ridge", "--folds"})
    use->excludes(other);
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia map digits.onnx digits.npy --radius 0.1 --steps 25 --sample 64 --json map.json --html map.html
  harmonia map booster.json rows.csv --label class --margin --radius 0.2 --scale std --json map.json
  harmonia map net.onnx photos/ --radius 100 --sample 32 --json map.json --html map.html
  harmonia map --use map.json digits.onnx new.npy --csv stable.csv

A row is stable if its class is the same after each of N steps of a search, which changes one feature a step by the
radius. The table has, class by class, P (the softmax probability), gamma in the logit of the row's class, the score
P·e^(-N·gamma), both forms of it with two exponentials, and how these go with stability. The map is a logistic
regression of stability on log P/(1-P) and log gamma; it is judged on rows that were held out.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
