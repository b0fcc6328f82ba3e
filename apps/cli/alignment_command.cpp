#include "alignment_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/alignment.hpp"
#include "harmonia/measure/scan.hpp"
#include "harmonia/report/alignment_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct AlignmentCommand {
  SubjectOptions subject;
  RunOptions run;
  AlignmentOptions options;
  ManifoldOptions manifold;
  std::string plane, plane_labels, gradient = "loss", outputs = "logits", line;

  void execute();
  std::unique_ptr<RowSource> open_plane(const Subject& what) const;
};

// The rows that the plane is fitted to, if they are others than the data's; opened as the data was.
std::unique_ptr<RowSource> AlignmentCommand::open_plane(const Subject& what) const {
  if (plane.empty()) return nullptr;
  DataOptions how = what.data_options;
  how.window.clear();
  how.regions.clear();
  how.labels = plane_labels;
  std::unique_ptr<RowSource> rows = open_data(plane, how);
  check_same_columns(rows->info(), what.data->info());
  return rows;
}

void AlignmentCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model, plane});
  options.gradient = parse_aligned_gradient(gradient);
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  if (run.dry_run) {
    const std::uint64_t rows = count_rows(*what.data),
                        opening = what.model ? what.model->info().example_rows
                                             : rows_to_open(subject.model, subject.model_options);
    fmt::print("{} = {}; {} in all; nothing was asked of the model\n", counted(rows, "row"),
               counted(rows, "gradient"), counted(rows + opening, "evaluation"));
    return;
  }
  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  check_alignment(*what.model, what.data->info());
  AlignmentRunRecord record;
  record.model = what.model->info();
  state.ledger.spend(record.model.example_rows);
  const std::unique_ptr<RowSource> other = open_plane(what);
  // The whole of the data, if a part of it is measured and no other rows are named.
  RowSource& fitted = other ? *other : what.reference();
  const ComponentsFound components =
      measured(run, state, [&] { return principal_components(fitted, manifold, stop); });
  fitted.rewind();
  options.probabilities =
      outputs == "probabilities" ||
      (what.images.description && what.images.description->probabilities && !measures_margin(subject, what));
  record.data = what.data->info();
  record.plane = fitted.info();
  record.options = options;
  record.manifold = manifold;
  record.explained = components.explained;
  record.plane_rows = components.rows;
  record.seed = subject.seed;
  record.command_line = line;
  WholeResult files(run);
  AlignmentResult result =
      measured(run, state, [&] { return alignment(*what.model, *what.data, components, options, state); });
  result.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  files.write([&] { return alignment_json(record, result); }, [&] { return alignment_csv(result); });
  if (!run.quiet) fmt::print("{}", alignment_table(record, result));
  print_warnings(result.warnings);
}

}  // namespace

void add_alignment_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<AlignmentCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand(
      "alignment", "Whether a model is sensitive along the plane that its data lies in, or across it");
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  for (const char* other : {"--scale", "--schema"}) app.remove_option(app.get_option(other));
  app.add_option("--manifold", command->plane,
                 "rows that the plane is fitted to, such as the training data [DATA]")
      ->type_name("DATA")
      ->group("Measure");
  app.add_option("--manifold-labels", command->plane_labels,
                 "labels of those rows, where they are images of an IDX file")
      ->type_name("FILE")
      ->needs(app.get_option("--manifold"))
      ->group("Measure");
  app.add_option("--components", command->manifold.components,
                 "principal directions of those rows that make the plane [28]")
      ->check(CLI::Range(1, 4096))
      ->group("Measure");
  app.add_flag("--by-label", command->manifold.by_label,
               "so many components for the rows of every label, taken together")
      ->group("Measure");
  app.add_option(
         "--gradient", command->gradient,
         "of what: the loss (cross-entropy of the row's label, or of its class without labels; outputs "
         "are logits), or the output of its class [loss]")
      ->check(CLI::IsMember({"loss", "output"}))
      ->group("Measure");
  app.add_option(
         "--outputs", command->outputs,
         "what the model's outputs are: logits, or probabilities, of which the logarithm is taken [logits]")
      ->check(CLI::IsMember({"logits", "probabilities"}))
      ->group("Measure");
  app.add_flag("--paper", command->options.paper,
               "the paper's equations as printed, which take components of several labels for orthonormal")
      ->group("Measure");
  app.add_option("--confidence", command->options.confidence, "of the means' intervals [0.95]")
      ->check(finite_number("a number between 0 and 1", [](double c) { return c > 0 && c < 1; }))
      ->group("Measure");
  app.add_option("--batch", command->options.batch,
                 "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia alignment net.pt test.npy --manifold train.npy --components 28
  harmonia alignment net.pt test.csv --label digit --manifold train.csv --by-label --json result.json

The cosine of a gradient with its part along the plane: 1 if the model answers to changes that keep a row
like the data, 0 if it answers to those that lead away from it. Takes one gradient a row.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
