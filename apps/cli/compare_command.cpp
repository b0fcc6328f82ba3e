#include "compare_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/measure/compare.hpp"
#include "harmonia/report/compare_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct CompareCommand {
  std::vector<std::string> models;  // and the data, until execute() takes it off
  SubjectOptions subject;
  RunOptions run;
  GammaFlags flags;
  std::string line;

  void execute();

 private:
  Subject open();
  ModelOptions options_of(const std::string& model) const;
};

// Opens the data with a model that says how wide its rows are, if there is one.
Subject CompareCommand::open() {
  const auto wide = std::find_if(models.begin(), models.end(), [&](const std::string& model) {
    return !needs_example(model, subject.model_options);
  });
  subject.model = wide == models.end() ? models.front() : *wide;
  SubjectOptions first = subject;
  first.model_options = options_of(subject.model);
  return open_subject(first);
}

// Headers are for the servers among the models; where there is none, they are refused.
ModelOptions CompareCommand::options_of(const std::string& model) const {
  ModelOptions options = subject.model_options;
  const auto server = [&](const std::string& address) { return is_server(address, options); };
  if (server(model) || std::none_of(models.begin(), models.end(), server)) return options;
  options.headers.clear();
  options.ca_file.clear();
  return options;
}

void CompareCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  subject.data = models.back();
  models.pop_back();
  if (models.size() < 2) {
    throw Error(ErrorCode::usage,
                fmt::format("{} to compare on {}; expected at least two models and the data",
                            counted(models.size(), "model"), subject.data));
  }
  check_paths(run, subject, models);
  if (std::set<std::string>(models.begin(), models.end()).size() < models.size()) {
    throw Error(ErrorCode::usage, "a model is named twice; expected different models");
  }
  complete(flags, subject);
  asked_options(flags);
  subject.model_options.stop = stop;
  Subject what = open();
  CompareRecord record;
  record.asked = asked_record(flags, subject, what, line);
  if (run.dry_run) return print_forecast(what, record.asked.options, models, 1, subject.model_options, run);

  Run state = new_run(subject, run, stop);
  std::vector<std::unique_ptr<Model>> opened;
  std::vector<const Model*> compared;
  for (const std::string& address : models) {
    const bool open_already = what.model && address == subject.model;
    opened.push_back(open_already ? std::move(what.model)
                                  : open_asked_model(address, options_of(address), subject, what));
    check_columns(opened.back()->info(), what.data->info(), subject);
    compared.push_back(opened.back().get());
    record.models.push_back(opened.back()->info());
    state.ledger.spend(opened.back()->info().example_rows);
  }
  record.asked.model.binary = subject.model_options.binary;
  WholeResult files(run);
  CompareResult result =
      measured(run, state, [&] { return compare(compared, *what.data, record.asked.options, state); });
  for (const ModelInfo& model : record.models) result.evaluations += model.example_rows;
  record.asked.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t m = 0; m < record.models.size(); ++m) {
    for (const std::string& sentence : result.summaries[m].warnings) {
      if (std::find(record.warnings.begin(), record.warnings.end(), sentence) == record.warnings.end())
        record.warnings.push_back(sentence);
    }
  }
  for (const std::string& sentence : scale_warnings(subject, what)) record.warnings.push_back(sentence);
  files.write([&] { return compare_json(record, result); }, [&] { return compare_csv(record, result); });
  if (run.quiet) return;
  fmt::print("{}", compare_table(record, result));
  print_warnings(record.warnings);
}

}  // namespace

void add_compare_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<CompareCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand("compare", "Which of several models has the lower gamma");
  add_models_argument(app, command->models);
  add_subject_options(app, command->subject);
  add_gamma_flags(app, command->flags, true);
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia compare fn:f2 fn:f4 uniform:1000 --radius 0.1
  harmonia compare old.onnx new.onnx rows.csv --output label --radius auto --scale std --json result.json

Every model is asked the same points around the same rows, so that what differs is due to the models. The
intervals of all pairs hold together with the probability of --confidence; models whose interval contains 0
are indistinguishable on these rows, which does not say that they are equal.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
