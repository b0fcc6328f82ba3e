#include "gamma_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/spread.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kWorstRows = 10;

struct GammaCommand {
  SubjectOptions subject;
  RunOptions run;
  std::string radius, ball = "simplex+anti", average = "surface", output = "predicted";
  GammaOptions options;
  std::string line;

  void execute();

 private:
  void set_radius(const Subject& what, GammaRunRecord& record);
  void check_paths() const;
  void forecast(const Subject& what) const;
};

std::size_t count_rows(RowSource& data) {
  if (data.info().rows) return *data.info().rows;
  std::size_t rows = 0;
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) rows += block.values.rows();
  data.rewind();
  return rows;
}

void warn(const std::string& sentence) { std::fputs(fmt::format("warning: {}\n", sentence).c_str(), stderr); }

void GammaCommand::set_radius(const Subject& what, GammaRunRecord& record) {
  if (radius == "auto") {
    options.ball.radius = automatic_radius(what.schema, what.reference(), subject.seed);
    record.automatic_radius = true;
    return;
  }
  const char* end = radius.data() + radius.size();
  if (std::from_chars(radius.data(), end, options.ball.radius) != std::from_chars_result{end, std::errc{}}) {
    throw Error(ErrorCode::usage, fmt::format("--radius '{}'; expected a number above 0, or auto", radius));
  }
}

// Two results in one file, or a result over its data, would lose one of them.
void GammaCommand::check_paths() const {
  const std::vector<std::string> paths{run.json, run.csv, run.resume, subject.data, subject.schema_file};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < std::min<std::size_t>(i, 3); ++j) {
      if (!paths[i].empty() && paths[i] == paths[j]) {
        throw Error(ErrorCode::usage,
                    fmt::format("{} is named twice; expected a file of its own for each", paths[i]));
      }
    }
  }
}

void GammaCommand::forecast(const Subject& what) const {
  const std::uint64_t rows = count_rows(*what.data), each = gamma_cost(options, what.data->info().inputs);
  const std::uint64_t opening = rows_to_open(subject.model, subject.model_options),
                      all = rows * each + opening;
  const char* most = options.precision > 0 ? "at most " : "";
  fmt::print("{} × {}{} evaluations{} = {}{} in all; nothing was asked of the model\n", counted(rows, "row"),
             most, each, opening > 0 ? fmt::format(" + {} to open the model", opening) : "", most, all);
  if (run.max_evaluations > 0 && all > run.max_evaluations) {
    fmt::print("--max-evaluations {} is enough for about {}\n", run.max_evaluations,
               counted((run.max_evaluations - std::min(opening, run.max_evaluations)) / each, "row"));
  }
}

void GammaCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths();
  options.ball = parse_ball(ball);
  options.ball.average = average == "solid" ? Average::solid : Average::surface;
  options.output = parse_output(output);
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  options.schema = what.schema;
  GammaRunRecord record;
  set_radius(what, record);
  if (run.dry_run) return forecast(what);

  Run state{.seed = subject.seed,
            .threads = run.threads,
            .ledger = Ledger(run.max_evaluations > 0 ? run.max_evaluations : Ledger::kUnlimited),
            .progress = {},
            .stop = stop};
  if (!what.model) what.model = open_model(subject.model, subject.model_options, what.example);
  const Model& model = *what.model;
  state.ledger.spend(model.info().example_rows);
  record.model = model.info();
  record.data = what.data->info();
  record.options = resolve(options, record.data.inputs);
  record.scale = subject.scale;
  record.model_output = subject.model_options.output_name;
  record.has_schema = !options.schema.empty();
  record.seed = subject.seed;
  record.command_line = line;

  std::unique_ptr<GammaJsonWriter> json;
  std::unique_ptr<GammaCsvWriter> csv;
  std::unique_ptr<GammaJournal> journal;
  WorstRows worst(kWorstRows);
  if (!run.json.empty()) json = std::make_unique<GammaJsonWriter>(run.json, record);
  if (!run.csv.empty()) csv = std::make_unique<GammaCsvWriter>(run.csv, record);
  if (!run.resume.empty()) journal = std::make_unique<GammaJournal>(run.resume, record);
  const auto show = [&](const GammaRow& row) {
    if (json) json->add(row);
    if (csv) csv->add(row);
    worst.add(row);
  };
  const auto sink = [&](const GammaRow& row) {
    show(row);
    if (journal) journal->add(row);
  };
  const std::vector<GammaRow> done = journal ? journal->done() : std::vector<GammaRow>{};
  for (const GammaRow& row : done) show(row);
  GammaSummary summary;
  std::size_t rows_done = 0;
  try {
    ProgressBar bar(!run.quiet, done);
    state.progress = [&](const Progress& progress) {
      rows_done = progress.rows_done;
      bar.show(progress);
      if (journal) journal->flush();
    };
    summary = gamma(model, *what.data, options, state, sink, done);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::interrupted) throw;
    const std::string of = record.data.rows ? fmt::format(" of {}", *record.data.rows) : "";
    throw Error(
        ErrorCode::interrupted,
        fmt::format("stopped after {}{} rows and {} evaluations; {}", rows_done, of, state.ledger.spent(),
                    journal ? fmt::format("the same command goes on from {}", run.resume)
                            : "nothing was written (--resume FILE keeps progress)"));
  }
  summary.evaluations += model.info().example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (subject.scale == "none" && subject.schema_file.empty()) {
    if (const auto sentence = scale_warning(what.reference())) summary.warnings.push_back(*sentence);
  }
  if (json) json->finish(summary, record.seconds);
  if (csv) csv->finish();
  if (journal) journal->finish(summary.outcomes[static_cast<std::size_t>(Outcome::budget)] == 0);
  if (run.quiet) return;
  fmt::print("{}", gamma_table(record, summary, worst));
  for (const std::string& sentence : summary.warnings) warn(sentence);
}

}  // namespace

void add_gamma_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<GammaCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand("gamma", "How far a model is from harmonic around every row");
  add_subject_options(app, command->subject);
  app.add_option("--radius", command->radius,
                 "of the ball, in units of --scale; auto: a tenth of the median distance to the "
                 "nearest row")
      ->required()
      ->group("Ball");
  app.add_option("--ball", command->ball,
                 "simplex, anti, simplex+anti, cross, one-hot, rotated:K, rotated-simplex:K, rademacher[:N], "
                 "random:N, random-pairs:N, "
                 "gaussian:N "
                 "[simplex+anti]")
      ->group("Ball");
  app.add_option("--average", command->average, "over the sphere's surface or the solid ball [surface]")
      ->check(CLI::IsMember({"surface", "solid"}))
      ->group("Ball");
  app.add_option("--output", command->output, "label, predicted, column:K, norm, angle or all [predicted]")
      ->group("Measure");
  GammaOptions& options = command->options;
  app.add_option(
         "--sample", options.sample,
         "draw exactly this many pairs of the ball instead of all; under about 16 often say too little")
      ->check(CLI::Range(1LL, 4294967296LL))
      ->group("Measure");
  app.add_option("--precision", options.precision,
                 "draw pairs until the interval is this share of gamma (needs --floor)")
      ->group("Measure");
  app.add_option("--floor", options.floor, "… or this narrow")->group("Measure");
  CLI::Option* paper =
      app.add_flag("--paper", options.paper, "the paper's own procedure, to reproduce published numbers")
          ->group("Measure");
  for (const char* other : {"--ball", "--average", "--sample", "--precision", "--floor"})
    paper->excludes(other);
  app.add_option("--confidence", options.confidence, "of every interval [0.95]")->group("Measure");
  app.add_option("--explain", options.explain, "name the K features whose pairs weigh most")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K")
      ->group("Measure");
  add_run_options(app, command->run);
  app.add_option("--batch", options.batch,
                 "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
  app.footer(R"(Examples:
  harmonia gamma fn:f4?n=10 uniform:1000 --radius 1
  harmonia gamma "cmd:python3 score.py" rows.csv --id customer --radius auto --scale std --json result.json
  harmonia gamma http://localhost:8080/v2/models/fraud rows.npy --radius 0.1 --ball cross --sample 64

gamma is |average of the model over the ball's points − the model at the row|: 0 where the model is harmonic.
Every number carries an interval; outcome says how it came about.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
