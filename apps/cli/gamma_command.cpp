#include "gamma_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report_command.hpp"

namespace harmonia {
namespace {

struct GammaCommand {
  SubjectOptions subject;
  RunOptions run;
  GammaFlags flags;
  std::string line;

  void execute();
};

void GammaCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model});
  complete(flags, subject);
  asked_options(flags);
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  GammaRunRecord record = asked_record(flags, subject, what, line);
  if (run.dry_run) {
    return print_forecast(what, record.options, {subject.model}, 1, subject.model_options, run);
  }

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  const Model& model = *what.model;
  state.ledger.spend(model.info().example_rows);
  record.model = model.info();

  std::unique_ptr<GammaJsonWriter> json;
  std::unique_ptr<GammaCsvWriter> csv;
  std::unique_ptr<GammaJournal> journal;
  WorstRows worst(kWorstRows);
  ExtremeRows extremes;
  ReportOutput report(run);
  if (!report.json().empty()) json = std::make_unique<GammaJsonWriter>(report.json(), record);
  if (!run.csv.empty()) csv = std::make_unique<GammaCsvWriter>(run.csv, record);
  if (!run.resume.empty()) journal = std::make_unique<GammaJournal>(run.resume, record);
  const auto show = [&](const GammaRow& row) {
    if (json) json->add(row);
    if (csv) csv->add(row);
    worst.add(row);
    extremes.add(row);
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
    summary = gamma(model, *what.data, record.options, state, sink, done);
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
  for (const std::string& sentence : scale_warnings(subject, what)) summary.warnings.push_back(sentence);
  if (json) json->finish(summary, record.seconds, shown_images(*what.data, extremes));
  if (csv) csv->finish();
  report.write();
  if (journal) journal->finish(summary.outcomes[static_cast<std::size_t>(Outcome::budget)] == 0);
  if (run.quiet) return;
  fmt::print("{}", gamma_table(record, summary, worst));
  print_warnings(summary.warnings);
}

}  // namespace

void add_gamma_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<GammaCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand("gamma", "How far a model is from harmonic around every row");
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  add_gamma_flags(app, command->flags, true);
  app.add_option("--explain", command->flags.options.explain, "name the K features whose pairs weigh most")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K")
      ->group("Measure");
  app.add_option(
         "--by", command->subject.data_options.by,
         "mean gamma for every value of this column, which is not fed to the model unless --columns names it")
      ->type_name("COLUMN")
      ->group("Measure");
  add_run_options(app, command->run);
  add_resume_option(app, command->run);
  app.footer(R"(Examples:
  harmonia gamma fn:f4?n=10 uniform:1000 --radius 1
  harmonia gamma "cmd:python3 score.py" rows.csv --id customer --radius auto --scale std --json result.json
  harmonia gamma fraud.onnx rows.csv --radius 0.1 --scale std --model-output logits
  harmonia gamma http://localhost:8080/v2/models/fraud rows.npy --radius 0.1 --ball cross --sample 64
  harmonia gamma net.onnx photos/ --radius 10 --sample 128 --by label --html photos.html
  harmonia gamma net.onnx t10k-images-idx3-ubyte --labels t10k-labels-idx1-ubyte --radius 10 --ball cross

gamma is |average of the model over the ball's points − the model at the row|: 0 where the model is harmonic.
Every number carries an interval; outcome says how it came about.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
