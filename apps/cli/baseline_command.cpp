#include "baseline_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "asked_map.hpp"
#include "gamma_flags.hpp"
#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/logit_model.hpp"
#include "harmonia/report/baseline_file.hpp"
#include "harmonia/report/map_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"

namespace harmonia {
namespace {

struct BaselineCommand {
  SubjectOptions subject;
  RunOptions run;
  GammaFlags flags;
  BaselineOptions options;
  std::string out, line, map_file;

  void execute();
};

// The rows themselves, read once more: gamma() keeps none.
Matrix<double> read_rows(RowSource& data, std::size_t rows) {
  Matrix<double> values(rows, data.info().inputs);
  RowBlock block;
  std::size_t done = 0;
  data.rewind();
  while (data.read(block, rows_per_block(data.info().inputs))) {
    const std::size_t count = std::min(block.values.rows(), rows - done);
    std::copy_n(block.values.row(0), count * values.columns(), values.row(done));
    done += count;
    if (count < block.values.rows()) ++done;  // more than were measured
    if (done > rows) break;
  }
  if (done == rows) return values;
  throw Error(ErrorCode::input, fmt::format("{} changed while it was read: {} were measured",
                                            printable(data.info().source, 500), counted(rows, "row")));
}

void check_asked(const GammaOptions& asked) {
  if (asked.output.kind != OutputChoice::Kind::all) return;
  throw Error(ErrorCode::usage,
              "--output all has a gamma for every column; a baseline needs one for every row, such as "
              "predicted or norm");
}

void BaselineCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model, map_file}, out);
  std::optional<SavedMap> map;
  if (!map_file.empty()) {
    map = read_asked_map(map_file, subject.model_options);
    flags.with_radius = false;
  }
  complete(flags, subject);
  check_asked(asked_options(flags));
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  if (what.data->info().image.values() > 0) {
    throw Error(ErrorCode::usage, fmt::format("{} holds images; a baseline is of tables", subject.data));
  }
  BaselineRun done;
  done.options = options;
  done.record = asked_record(flags, subject, what, line);
  if (map) {
    measure_as(*map, flags.options.batch, done.record);
    done.log_probabilities = map->probabilities;
  }
  if (run.dry_run) {
    return print_forecast(what, done.record.options, {subject.model}, 1, subject.model_options, run);
  }

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  state.ledger.spend(what.model->info().example_rows);
  done.record.model = what.model->info();
  // It refuses a model without classes; where outputs are logits, they are those of the model itself.
  const std::unique_ptr<Model> logits = map ? make_logit_model(*what.model, map->probabilities) : nullptr;
  const Model& model = done.log_probabilities ? *logits : *what.model;
  AtomicFile file(out);  // a folder that cannot be written to is found at once
  std::vector<GammaRow> rows;
  const auto keep = [&](const GammaRow& row) {
    rows.push_back(row);
    rows.back().x = {};
  };
  done.summary =
      measured(run, state, [&] { return gamma(model, *what.data, done.record.options, state, keep); });
  if (const std::size_t left = done.summary.outcomes[static_cast<std::size_t>(Outcome::budget)]; left > 0) {
    throw Error(ErrorCode::usage,
                fmt::format("--max-evaluations {} is enough for {} of {}; a baseline needs all of them",
                            run.max_evaluations, rows.size() - left, counted(rows.size(), "row")));
  }
  const Matrix<double> values = read_rows(*what.data, rows.size());
  done.baseline = make_baseline(values.view(), rows, feature_names(done.record.data), done.record.options,
                                subject.seed, options);
  done.evaluations = state.ledger.spent();
  done.record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!map) {
    for (const std::string& sentence : scale_warnings(subject, what))
      done.summary.warnings.push_back(sentence);
  } else if (const std::optional<std::string> sentence = other_model(*map, done.record.model)) {
    done.summary.warnings.push_back(*sentence);
  }
  file.write(baseline_json(done));
  file.commit();
  if (run.quiet) return;
  fmt::print("{}", baseline_table(done));
  print_warnings(done.summary.warnings);
}

}  // namespace

void add_baseline_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<BaselineCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app =
      *program.add_subcommand("baseline", "gamma on reference data, that a monitor compares a stream with");
  add_model_argument(app, command->subject);
  app.add_option("-o,--out", command->out, "the file to write")
      ->required()
      ->type_name("FILE")
      ->group("Baseline");
  add_subject_options(app, command->subject);
  add_gamma_flags(app, command->flags, true);
  BaselineOptions& options = command->options;
  CLI::Option* map = app.add_option("--map", command->map_file,
                                    "result of harmonia map: measure gamma as it did, for harmonia monitor "
                                    "--map")
                         ->type_name("FILE")
                         ->group("Baseline");
  exclude_measuring(*map);
  for (const char* other : {"--output", "--model-output"}) map->excludes(other);
  app.add_option("--regions", options.partition.regions,
                 "regions of feature space in which gamma differs, at most [16]")
      ->check(CLI::Range(1, 1000))
      ->group("Baseline");
  app.add_option("--least-rows", options.partition.least_rows,
                 "reference rows that a region is to have, about [50]")
      ->check(CLI::Range(1LL, 1LL << 40))
      ->group("Baseline");
  app.add_option("--learning-share", options.learning_share,
                 "of the rows, that the regions are learned from; the others are the reference [0.3]")
      ->check(finite_number("a number above 0 and below 1", [](double s) { return s > 0 && s < 1; }))
      ->group("Baseline");
  app.add_option("--keep", options.kept_rows,
                 "reference rows kept with their values, to be shown beside others [1000]")
      ->check(CLI::Range(1, 1000000))
      ->group("Baseline");
  add_run_limits(app, command->run);
  app.add_flag("--quiet", command->run.quiet, "no table, no progress")->group("Run");
  app.footer(R"(Examples:
  harmonia baseline fn:f4?n=10 uniform:1000 --radius 1 -o base.json
  harmonia baseline fraud.onnx rows.csv --id customer --radius 0.1 --scale std -o base.json
  harmonia baseline fraud.json rows.csv --radius 0.1 --scale std --sample 16 --regions 8 -o base.json
  harmonia baseline fraud.onnx rows.csv --map map.json -o base.json

Take rows that the model has not been trained on, from a time when all was well. Regions are learned from a share
of them, and gamma's distribution in each is taken from the others, so that these and the rows of a stream without
drift are exchangeable. base.json says how gamma was measured: a stream is measured in the same way.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
