#include "harmonia/report/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gamma_json.hpp"
#include "harmonia/core/text.hpp"
#include "result_json.hpp"
#include "text_forms.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kCommands{"gamma", "compare", "sweep"};

std::optional<double> value_of(const ResultField& field) {
  const double value = field.number_or_nan();
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

// A cell of a Markdown table, or a name in it, without what would end it.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : printable(text, 500)) {
    if (c == '|' || c == '<' || c == '\\' || c == '*' || c == '_' || c == '[') safe += '\\';
    safe += c == '`' ? '\'' : c;
  }
  return safe;
}

std::string ends(const ResultField& statistics) {
  return interval(value_of(statistics.at("low")), value_of(statistics.at("high")));
}

// Options that are texts, numbers or lists, as a person writes them.
std::string word(const Json& value) {
  return plain(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string data_cell(const ResultField& data, const Json& options) {
  std::string text = fmt::format("{}: {} rows, {} features", plain(data.at("source").text()),
                                 grouped(data.at("rows").count()), grouped(data.at("inputs").count()));
  if (options.contains("jitter")) text += ", jittered";
  if (options.contains("window")) text += fmt::format(", window {}", word(options["window"]));
  for (const Json& region : options.value("region", Json::array()))
    text += fmt::format(", in {}", word(region));
  return text;
}

std::string model_cell(const ResultField& model, const char* name) {
  std::string text = fmt::format("{} ({})", plain(model.at(name).text()), plain(model.at("kind").text()));
  if (model.has("sha256")) text += fmt::format(", SHA-256 {}", plain(model.at("sha256").text()));
  return text;
}

std::string statistics_row(const std::string& name, const ResultField& statistics) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, number(value_of(statistics.at("mean"))),
                     ends(statistics), number(value_of(statistics.at("rms"))),
                     number(value_of(statistics.at("relative"))), grouped(statistics.at("rows").count()));
}

std::string statistics_head(const std::string& name, const std::string& percent) {
  return fmt::format(
      "| {} | mean γ | {} interval | rms γ | mean γ / spread of the output | rows |\n"
      "|---|---|---|---|---|---|\n",
      name, percent);
}

std::string numbers_of(const std::string& command, const ResultField& result, const std::string& percent) {
  const ResultField summary = result.at("summary");
  if (command == "gamma") {
    std::string text = statistics_head("", percent) + statistics_row("all rows", summary.at("gamma"));
    if (!summary.has("segments")) return text;
    const ResultField values = summary.at("segments").at("values");
    const std::string by = plain(summary.at("segments").at("by").text());
    for (std::size_t i = 0; i < values.size(); ++i) {
      text +=
          statistics_row(fmt::format("{} = {}", by, plain(values.at(i).at("value").text())), values.at(i));
    }
    return text;
  }
  if (command == "sweep") {
    std::string text = statistics_head("radius", percent);
    const ResultField rows = result.at("rows");
    for (std::size_t i = 0; i < rows.size(); ++i)
      text += statistics_row(fmt::format("{:g}", rows.at(i).at("radius").number()), rows.at(i));
    return text + fmt::format("\n{}.\n", plain(summary.at("text").text()));
  }
  std::string text = statistics_head("model", percent);
  const ResultField models = result.at("models");
  for (std::size_t m = 0; m < models.size(); ++m) {
    text += statistics_row(
        fmt::format("{} (rank {})", plain(models.at(m).at("name").text()), models.at(m).at("rank").count()),
        models.at(m).at("gamma"));
  }
  return text + fmt::format("\n{}.\n", plain(summary.at("text").text()));
}

std::string intervals_of(const std::string& command, const ResultField& result) {
  if (command != "gamma") return result.at("summary").at("intervals").text();
  return "each interval holds for itself with the stated probability, the rows taken as a random sample of "
         "what "
         "they stand for; points of a regular grid are no such sample";
}

// What a reader may take from the numbers and must not.
std::vector<std::string> not_meant(const std::string& command) {
  std::vector<std::string> list{
      "A small γ does not say that the model is right: a constant has γ = 0, and so has every linear "
      "function.",
      "A large γ does not say that it is wrong: it says that the model bends within the radius.",
      "γ compares between models and versions only at the same radius, scale, ball, output and data.",
      "γ is about these rows and small changes of them: not about other data, adversaries, or fairness."};
  if (command == "compare")
    list.emplace_back(
        "Models that are indistinguishable on these rows are not thereby equal; more rows may tell them "
        "apart.");
  if (command == "sweep")
    list.emplace_back("The growth holds over the radii that were measured, and not beyond.");
  return list;
}

std::string asked_table(const std::string& command, const ResultField& result) {
  const Json& options = result.at("options").object();
  std::string text = "| | |\n|---|---|\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    text += fmt::format("| {} | {} |\n", name, value);
  };
  if (command == "compare") {
    const ResultField models = result.at("models");
    for (std::size_t m = 0; m < models.size(); ++m) add("model", model_cell(models.at(m), "name"));
  } else {
    add("model", model_cell(result.at("model"), "path"));
  }
  add("data", data_cell(result.at("data"), options));
  std::string ball = word(options.value("ball", Json("")));
  if (options.contains("radius")) ball += fmt::format(", radius {}", word(options["radius"]));
  add("ball", fmt::format("{}, {} average, scale {}", ball, word(options.value("average", Json(""))),
                          word(options.value("scale", Json("")))));
  add("output", word(options.value("output", Json(""))));
  for (const char* key : {"sample", "precision", "floor"}) {
    if (const auto found = options.find(key); found != options.end() && !found->is_null())
      add(key, word(*found));
  }
  add("seed", word(options.value("seed", Json())));
  add("evaluations", grouped(result.at("evaluations").count()));
  add("harmonia", plain(result.at("version").text()));
  return text;
}

// A command as a block of code, longer than any run of back-ticks in it.
std::string code_block(const std::string& line) {
  std::string fence = "```";
  while (line.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{}sh\n{}\n{}\n", fence, printable(trim(line), std::string::npos), fence);
}

// Those on the models, and those on the result.
std::vector<std::string> warnings_of(const std::string& command, const ResultField& result) {
  std::vector<std::string> sentences;
  const auto add = [&](const ResultField& model) {
    if (model.has("warning")) sentences.push_back(model.at("warning").text());
  };
  if (command == "compare") {
    for (std::size_t i = 0; i < result.at("models").size(); ++i) add(result.at("models").at(i));
  } else {
    add(result.at("model"));
  }
  const ResultField warnings = result.at("summary").at("warnings");
  for (std::size_t i = 0; i < warnings.size(); ++i) sentences.push_back(warnings.at(i).text());
  return sentences;
}

}  // namespace

std::string card_markdown(const ResultFile& file) {
  const std::string command = result_command(file, kCommands);
  const Json frame = command == "gamma" ? parse_result(file, {}, [](Json&) {}) : parse_result(file);
  const ResultField result(file, frame);
  const std::string percent = fmt::format("{:g} %", 100 * result.at("options").at("confidence").number());
  std::string text = "## Harmonic robustness\n\n";
  text +=
      "γ = |average of the model over a small ball around a row − the model at the row|, in units of the "
      "model's "
      "output. It needs no labels.\n\n";
  text += numbers_of(command, result, percent);
  text += fmt::format("\nIntervals: {}.\n\n", plain(intervals_of(command, result)));
  text += "### How it was measured\n\n" + asked_table(command, result);
  for (const char* before = "\n"; const std::string& sentence : warnings_of(command, result)) {
    text += fmt::format("{}- Warning: {}.\n", before, plain(sentence));
    before = "";
  }
  text += "\nTo repeat it, to the last digit with any number of threads:\n\n";
  text += code_block(result.at("command_line").text());
  text += "\n### What these numbers do not mean\n\n";
  for (const std::string& line : not_meant(command)) text += fmt::format("- {}\n", line);
  return text;
}

std::string card_json(const ResultFile& file) {
  const std::string command = result_command(file, kCommands);
  const Json frame = command == "gamma" ? parse_result(file, {}, [](Json&) {}) : parse_result(file);
  const ResultField result(file, frame);
  Json card{{"schema", "harmonia-card/1"}, {"of", command}};
  const char* const models = command == "compare" ? "models" : "model";
  card[models] = result.at(models).json();
  card["data"] = result.at("data").object();
  card["options"] = result.at("options").object();
  const ResultField summary = result.at("summary");
  if (command == "gamma") {
    card["gamma"] = summary.at("gamma").object();
    card["outcomes"] = summary.at("outcomes").object();
    if (summary.has("segments")) card["segments"] = summary.at("segments").object();
  } else {
    card["rows"] = result.at("rows").list();
    card["text"] = summary.at("text").text();
  }
  card["intervals"] = intervals_of(command, result);
  card["warnings"] = warnings_of(command, result);
  card["does_not_mean"] = not_meant(command);
  card["command_line"] = result.at("command_line").text();
  card["evaluations"] = result.at("evaluations").count();
  card["version"] = result.at("version").text();
  return card.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace harmonia
