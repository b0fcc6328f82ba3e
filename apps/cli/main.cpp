#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "alignment_command.hpp"
#include "attack_command.hpp"
#include "baseline_command.hpp"
#include "boundary_command.hpp"
#include "card_command.hpp"
#include "compare_command.hpp"
#include "gamma_command.hpp"
#include "gate_command.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/suggestion.hpp"
#include "harmonia/core/text.hpp"
#include "map_command.hpp"
#include "monitor_command.hpp"
#include "persistence_command.hpp"
#include "project_command.hpp"
#include "report_command.hpp"
#include "serve_command.hpp"
#include "stability_command.hpp"
#include "sweep_command.hpp"
#include "text_command.hpp"
#include "train_command.hpp"

namespace {

// 0 done, 1 gate failed, 2 bad usage or input, 3 the model failed, 4 inconclusive, 130 interrupted.
int exit_code(harmonia::ErrorCode code) {
  switch (code) {
    case harmonia::ErrorCode::usage:
    case harmonia::ErrorCode::input:
      return 2;
    case harmonia::ErrorCode::model:
      return 3;
    case harmonia::ErrorCode::interrupted:
      return 130;
  }
  return 2;
}

// One line, whatever names of files and other words of the user's are in it.
int fail(int code, const std::string& message) {
  const std::string line = harmonia::printable(harmonia::trim(message), std::string::npos);
  std::fputs(fmt::format("harmonia: {}\n", line).c_str(), stderr);
  return code;
}

// What to say of a command line that names no command of the program: all that there is if it names nothing,
// otherwise what may have been meant.
int fail_without_command(const CLI::App& program, const char* word) {
  if (word == nullptr) {
    std::fputs(program.help().c_str(), stderr);
    return 2;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  const std::string nearest = harmonia::nearest_name(word, names);
  return fail(2, nearest.empty()
                     ? fmt::format("{} is no command; harmonia --help lists them", harmonia::in_quotes(word))
                     : fmt::format("{} is no command; did you mean {}? harmonia --help lists all",
                                   harmonia::in_quotes(word), nearest));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Measures how far a machine-learning model is from harmonic: no labels, any model.",
                   "harmonia");
  program.set_version_flag("--version", HARMONIA_VERSION);
  program.require_subcommand(1);
  program.footer(
      "Example, gamma of a built-in function around 1000 random rows:\n"
      "  harmonia gamma 'fn:f2?n=3' uniform:1000 --radius 0.1\n\n"
      "harmonia COMMAND --help tells the rest.");
  int code = 0;
  try {
    harmonia::add_gamma_command(program, argc, argv);
    harmonia::add_compare_command(program, argc, argv);
    harmonia::add_sweep_command(program, argc, argv);
    harmonia::add_stability_command(program, argc, argv);
    harmonia::add_persistence_command(program, argc, argv);
    harmonia::add_boundary_command(program, argc, argv);
    harmonia::add_alignment_command(program, argc, argv);
    harmonia::add_map_command(program, argc, argv);
    harmonia::add_attack_command(program, argc, argv);
    harmonia::add_baseline_command(program, argc, argv);
    harmonia::add_monitor_command(program);
    harmonia::add_text_command(program, argc, argv);
    harmonia::add_train_command(program);
    harmonia::add_project_command(program);
    harmonia::add_gate_command(program, code);
    harmonia::add_card_command(program);
    harmonia::add_report_command(program);
    harmonia::add_serve_command(program);
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    if (program.get_subcommands().empty() && (argc < 2 || argv[1][0] != '-'))
      return fail_without_command(program, argc < 2 ? nullptr : argv[1]);
    return fail(2, error.what());
  } catch (const harmonia::Error& error) {
    return fail(exit_code(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(2, "out of memory; a smaller --batch or fewer --threads need less");
  } catch (const std::exception& error) {
    return fail(2, error.what());
  }
  return code;
}
