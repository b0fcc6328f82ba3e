#include "gate_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/report/gate.hpp"
#include "junit.hpp"
#include "options.hpp"

namespace harmonia {
namespace {

struct GateCommand {
  std::string result, against, junit;
  GateOptions options;
  bool quiet = false;

  int execute() const;
};

int exit_code_of(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::passed:
      return 0;
    case GateOutcome::failed:
      return 1;
    case GateOutcome::inconclusive:
      return 4;
  }
  return 4;
}

int GateCommand::execute() const {
  if (!junit.empty() && (junit == result || junit == against)) {
    throw Error(ErrorCode::usage,
                fmt::format("{} is named twice; expected a file of its own for each", junit));
  }
  std::optional<ResultFile> baseline;
  if (!against.empty()) baseline = read_result_file(against);
  const GateResult found = gate(read_result_file(result), baseline, options);
  if (!junit.empty()) {
    AtomicFile file(junit);
    file.write(junit_xml(found, result));
    file.commit();
  }
  if (!quiet) {
    for (const GateCheck& check : found.checks)
      fmt::print("{}: {}\n", outcome_name(check.outcome), check.text);
  }
  return exit_code_of(found.outcome());
}

}  // namespace

void add_gate_command(CLI::App& program, int& exit_code) {
  const auto command = std::make_shared<GateCommand>();
  CLI::App& app = *program.add_subcommand("gate", "Passes or fails a result: for continuous integration");
  app.add_option("RESULT", command->result, "JSON file of gamma or compare")->required();
  app.add_option("--max-gamma", command->options.max_gamma, "the most that the mean gamma may be")
      ->check(finite_number("a number that is not negative", [](double limit) { return limit >= 0; }));
  CLI::Option* against = app.add_option("--against", command->against,
                                        "JSON file of gamma: the mean gamma may not be above its own")
                             ->type_name("FILE");
  app.add_option("--max-increase", command->options.max_increase, "… by more than this [0]")
      ->check(finite_number("a number", [](double) { return true; }))
      ->needs(against);
  app.add_option("--junit", command->junit, "write the checks as JUnit XML")->type_name("FILE");
  app.add_flag("--quiet", command->quiet, "no text, only the exit code");
  app.footer(R"(Examples:
  harmonia gate result.json --max-gamma 0.03
  harmonia gate result.json --max-gamma 0.03 --against baseline.json --max-increase 0.001 --junit gate.xml

Exit code 0: passed, the whole interval is within the limit. 1: failed, all of it is above. 4: inconclusive, the
limit lies inside of the interval (more rows or points make it narrower). 2: the files or options are wrong.
A difference is taken row by row where both results measured the same rows.)");
  app.callback([command, &exit_code] { exit_code = command->execute(); });
}

}  // namespace harmonia
