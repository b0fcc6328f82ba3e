#include "boundary_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/boundary_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct BoundaryCommand {
  SubjectOptions subject;
  RunOptions run;
  BoundaryOptions options;
  std::string b, normal = "auto", normals, line;
  bool points = false;

  void check() const;
  void forecast(RowSource& from, RowSource& to, const Model* model) const;
  void execute();
};

void BoundaryCommand::check() const {
  check_paths(run, subject, {subject.model, b.substr(0, b.find('#'))});
  for (const std::string& other : {run.json, run.csv, run.html, subject.data, b, subject.model}) {
    if (!same_file(normals, other.substr(0, other.find('#')))) continue;
    throw Error(ErrorCode::usage,
                fmt::format("{} is named twice; expected a file of its own for each", normals));
  }
  if (!normals.empty() && options.normal == NormalMethod::none)
    throw Error(ErrorCode::usage, "--normals needs normals; --normal none finds none");
}

void BoundaryCommand::forecast(RowSource& from, RowSource& to, const Model* model) const {
  const std::size_t pairs = count_pairs(from, to);
  const BoundaryCost cost = boundary_cost(options, from.info().inputs);
  const std::uint64_t opening =
      model ? model->info().example_rows : rows_to_open(subject.model, subject.model_options);
  std::string further;
  switch (options.normal) {
    case NormalMethod::none:
      break;
    case NormalMethod::margin:
      further = fmt::format(" and {} for its normal", cost.margin);
      break;
    case NormalMethod::label:
      further = fmt::format(" and about {} for its normal", cost.label);
      break;
    case NormalMethod::automatic:
      further = fmt::format(" and {} for its normal by margin, about {} by label", cost.margin, cost.label);
      break;
  }
  fmt::print(
      "{} × {} evaluations{} = {}, and for every crossing up to {}{}; nothing was asked of the model\n",
      counted(pairs, "pair"), cost.pair, opening > 0 ? fmt::format(" + {} to open the model", opening) : "",
      pairs * cost.pair + opening, cost.bisection, further);
}

void BoundaryCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  options.normal = parse_normal(normal);
  check();
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  DataOptions data_options = subject.data_options;
  data_options.seed = subject.seed;
  data_options.inputs = what.data->info().inputs;
  const std::unique_ptr<RowSource> to = open_data(b, data_options);
  if (what.model) check_columns(what.model->info(), to->info(), subject);
  options.schema = what.schema;
  if (run.dry_run) return forecast(*what.data, *to, what.model.get());

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  BoundaryRunRecord record;
  record.model = what.model->info();
  record.a = what.data->info();
  record.b = to->info();
  record.options = options;
  record.model_output = subject.model_options.output_name;
  record.margin = measures_margin(subject, what);
  record.scale = subject.scale;
  record.points = points;
  record.seed = subject.seed;
  record.command_line = line;
  state.ledger.spend(record.model.example_rows);
  WholeResult files(run);
  std::unique_ptr<AtomicFile> normals_file;
  if (!normals.empty()) normals_file = std::make_unique<AtomicFile>(normals);
  options.keep_normals = !normals.empty();
  options.keep_points = points || record.a.inputs <= 50;
  BoundaryResult result;
  result.summary = measured(run, state, [&] {
    return boundary(*what.model, *what.data, *to, options, state,
                    [&](const BoundaryRow& row) { result.rows.push_back(row); });
  });
  result.summary.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  files.write([&] { return boundary_json(record, result, result.summary.warnings); },
              [&] { return boundary_csv(result); });
  if (normals_file) {
    normals_file->write(normals_npy(result, record.a.inputs));
    normals_file->commit();
  }
  if (!run.quiet) fmt::print("{}", boundary_table(record, result));
  print_warnings(result.summary.warnings);
}

}  // namespace

void add_boundary_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<BoundaryCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app =
      *program.add_subcommand("boundary", "Where segments between rows cross decision boundaries, and how");
  app.add_option("MODEL", command->subject.model, "as for the other commands: net.onnx, booster.json, cmd:…")
      ->required();
  app.add_option("A", command->subject.data, "rows where the segments begin: rows.csv, rows.npy, FILE#ROW")
      ->required();
  app.add_option("B", command->b, "rows where they end: as many, or one row on one side")->required();
  add_subject_options(app, command->subject);
  // A part of each side's rows would be pairs that nobody meant.
  for (const char* other : {"--region", "--jitter"}) app.remove_option(app.get_option(other));
  app.get_option("--scale")->description("unit of lengths and angles per feature: none, std or range [none]");
  BoundaryOptions& options = command->options;
  app.add_option(
         "--steps", options.steps,
         "parts that every segment is looked at in; what begins and ends within one is not seen [100]")
      ->check(CLI::Range(1, 1 << 24))
      ->group("Measure");
  app.add_option(
         "--normal", command->normal,
         "how the boundary's normal is found: margin (differences of the two classes' outputs), label "
         "(classes alone, some 18 times the evaluations), none; auto: margin, but label where the "
         "outputs jump at the boundary or are the class [auto]")
      ->check(CLI::IsMember({"auto", "margin", "label", "none"}))
      ->group("Measure");
  app.add_option("--step", options.step,
                 "of the normal's differences, in units of --scale [0.001 of the features' root mean square "
                 "deviation in A and B, 0.01 for a model in float32]")
      ->check(finite_number("a number above 0", [](double step) { return step > 0; }))
      ->group("Measure");
  app.add_option("--confidence", options.confidence, "of the mean angle's interval [0.95]")
      ->check(finite_number("a number between 0 and 1", [](double c) { return c > 0 && c < 1; }))
      ->group("Measure");
  app.add_option("--batch", options.batch,
                 "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
  add_run_options(app, command->run);
  app.add_option("--normals", command->normals,
                 "write the normals as NPY: a row a row of the result, NaN where it has none")
      ->type_name("FILE")
      ->group("Result");
  app.add_flag("--points", command->points, "write the crossings' points even if they have over 50 features")
      ->group("Result");
  app.footer(R"(Examples:
  harmonia boundary net.onnx rows.csv#3 rows.csv#8
  harmonia boundary net.onnx natural.npy adversarial.npy --normals normals.npy --json result.json --html page.html
  harmonia boundary "cmd:python3 score.py" rows.csv rows.csv#0 --binary --scale std --steps 1000

Row i of A is paired with row i of B. Every class change along the segment is bisected until no point lies
between; the angle is that of the segment with the boundary there, 90 degrees if it is orthogonal.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
