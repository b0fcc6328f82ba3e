#include "card_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/report/card.hpp"

namespace harmonia {
namespace {

struct CardCommand {
  std::string result, out, format = "markdown";

  void execute() const;
};

void CardCommand::execute() const {
  if (!out.empty() && out == result) {
    throw Error(ErrorCode::usage, fmt::format("{} is named twice; expected a file of its own for each", out));
  }
  const ResultFile file = read_result_file(result);
  const std::string text = format == "json" ? card_json(file) : card_markdown(file);
  if (out.empty()) {
    fmt::print("{}", text);
    return;
  }
  AtomicFile card(out);
  card.write(text);
  card.commit();
}

}  // namespace

void add_card_command(CLI::App& program) {
  const auto command = std::make_shared<CardCommand>();
  CLI::App& app = *program.add_subcommand("card", "A result as a section of a model card");
  app.add_option("RESULT", command->result, "JSON file of gamma, compare or sweep")->required();
  app.add_option("-o,--output", command->out, "write to FILE instead of standard output")->type_name("FILE");
  app.add_option("--format", command->format, "markdown or json [markdown]")
      ->check(CLI::IsMember({"markdown", "json"}));
  app.footer(R"(Examples:
  harmonia card result.json -o card.md
  harmonia card compare.json --format json

The card has the numbers with their intervals, the seed, the command that repeats them, and what they do not mean.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
