#include "text_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/report/text_report.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "text_flags.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct TextCommand {
  TextFlags flags;
  PromptColumns columns;
  std::string prompts;
  std::string families = "appended", convention = "angle";
  TextOptions options;
  RunOptions run;
  bool paper = false, no_resampling = false;
  std::size_t ascend = 0;
  std::uint64_t seed = 1, most_calls = 0, most_tokens = 0;
  std::string line;

  void execute();

 private:
  TextRecord asked_record() const;
  std::size_t resampled(const TextRecord& record) const;
  AscentOptions ascent(const TextRecord& record) const;
  void forecast(const TextRecord& record) const;
  TextModelRecord measure(const TextRecord& record, std::size_t model, Embedder& embedder, AnswerStore* store,
                          ChatBudget& budget, Run& state);
};

std::vector<PromptFamily> parse_families(const std::string& text) {
  std::vector<PromptFamily> families;
  if (text == "all") {
    for (const PromptFamilyInfo& info : prompt_families()) families.push_back(info.family);
    return families;
  }
  std::size_t first = 0;
  while (first <= text.size()) {
    const std::size_t end = std::min(text.find(',', first), text.size());
    const std::string name(trim(text.substr(first, end - first)));
    const std::optional<PromptFamily> family = family_of(name);
    if (!family || std::find(families.begin(), families.end(), *family) != families.end()) {
      std::string known;
      for (const PromptFamilyInfo& info : prompt_families()) known += fmt::format("{}, ", info.name);
      throw Error(ErrorCode::usage,
                  fmt::format("--family {}; expected some of {}each once, or all", in_quotes(name), known));
    }
    families.push_back(*family);
    first = end + 1;
  }
  return families;
}

TextRecord TextCommand::asked_record() const {
  TextRecord record;
  record.source = prompts;
  record.prompts = read_prompts(prompts, columns);
  record.options = options;
  record.options.families = parse_families(families);
  record.parameters = flags.parameters;
  record.convention = convention_of(convention).value();
  record.seed = seed;
  record.command_line = line;
  if (paper) {
    record.options.families = {PromptFamily::appended};
    record.options.variants = 10;
    record.options.repeats = 0;
    record.options.plain = true;
    record.convention = AngleConvention::paper;
  }
  return record;
}

// Answers of plain resampling, as many as gamma is asked for: 0 where nobody wants to know.
std::size_t TextCommand::resampled(const TextRecord& record) const {
  return columns.labels.empty() || no_resampling ? 0 : 1 + record.options.repeats + record.options.variants;
}

AscentOptions TextCommand::ascent(const TextRecord& record) const {
  AscentOptions asked;
  asked.steps = ascend;
  asked.variants = record.options.variants;
  asked.paper = paper;
  asked.confidence = record.options.confidence;
  return asked;
}

void TextCommand::forecast(const TextRecord& record) const {
  const std::uint64_t models = flags.models.size();
  const std::uint64_t questions =
      models *
      (text_questions(record.prompts.size(), record.options) + record.prompts.size() * resampled(record) +
       (ascend > 0 ? record.prompts.size() * ascent_calls(ascent(record)) : 0));
  std::uint64_t bytes = 0;
  for (const Prompt& prompt : record.prompts) bytes += prompt.text.size() + record.parameters.system.size();
  const std::uint64_t each = questions / record.prompts.size();
  fmt::print(
      "{} and {}: at most {} chat calls besides retries, and some {} tokens ({} an answer, a quarter of the "
      "bytes of "
      "prompts){}\n",
      counted(record.prompts.size(), "prompt"), counted(models, "model"), questions,
      questions * record.parameters.max_tokens + each * bytes / 4, record.parameters.max_tokens,
      flags.no_store ? "" : fmt::format("; answers that {} has are not asked for again", flags.store));
}

TextModelRecord TextCommand::measure(const TextRecord& record, std::size_t model, Embedder& embedder,
                                     AnswerStore* store, ChatBudget& budget, Run& state) {
  const EndpointOptions endpoint = endpoint_of(flags, model);
  const std::unique_ptr<Chat> asked = open_chat_endpoint(endpoint, record.parameters, budget);
  TextModelRecord found;
  found.address = endpoint_base(endpoint);
  const std::unique_ptr<Chat> kept =
      store == nullptr ? nullptr : store->stored(*asked, found.address, record.parameters);
  found.result = measure_text(kept ? *kept : *asked, embedder, record.prompts, record.options, state);
  found.result.model = flags.names[model];
  found.summaries = summarise_text(found.result, record.options);
  const PromptFamily family = record.options.families.front();
  std::vector<std::optional<double>> scatter;
  if (resampled(record) > 0) {
    ChatParameters warm = record.parameters;
    warm.temperature = 1;
    const std::unique_ptr<Chat> warm_asked = open_chat_endpoint(endpoint, warm, budget);
    const std::unique_ptr<Chat> warm_kept =
        store == nullptr ? nullptr : store->stored(*warm_asked, found.address, warm);
    scatter = resampling_scatter(warm_kept ? *warm_kept : *warm_asked, embedder, record.prompts,
                                 resampled(record), state);
  }
  for (std::size_t p = 0; ascend > 0 && p < record.prompts.size(); ++p) {
    found.ascents.emplace_back();
    // A prompt without a gamma is marked already.
    if (!found.result.rows[p * record.options.families.size()].gamma) continue;
    try {
      found.ascents.back() =
          ascend_prompt(kept ? *kept : *asked, embedder, record.prompts[p].text, p, ascent(record), state);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::model) throw;
    }
  }
  found.scores = score_labels(found.result, record.prompts, family, scatter, record.options.confidence);
  found.ratings = score_ratings(found.result, record.prompts, family, record.options.confidence);
  return found;
}

void TextCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_files({run.json, run.csv, run.html, flags.no_store ? std::string() : flags.store}, {prompts});
  TextRecord record = asked_record();
  complete(flags, stop);
  check_confidence(record.options.confidence);
  if (run.dry_run) return forecast(record);
  WholeResult files(run);
  const std::unique_ptr<Embedder> embedder = open_embedder(flags.embedder, flags.endpoint);
  const std::unique_ptr<AnswerStore> store =
      flags.no_store ? nullptr : std::make_unique<AnswerStore>(flags.store);
  const std::unique_ptr<Embedder> kept = store ? store->stored(*embedder) : nullptr;
  record.embedder = embedder->name();
  ChatBudget budget;
  if (most_calls > 0) budget.most_calls = most_calls;
  if (most_tokens > 0) budget.most_tokens = most_tokens;
  Run state;
  state.seed = seed;
  state.stop = stop;
  try {
    ProgressBar bar(!run.quiet, {});
    state.progress = [&bar](const Progress& progress) { bar.show(progress); };
    for (std::size_t m = 0; m < flags.models.size(); ++m)
      record.models.push_back(measure(record, m, kept ? *kept : *embedder, store.get(), budget, state));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::interrupted) throw;
    throw Error(
        ErrorCode::interrupted,
        store ? fmt::format("stopped after {} calls; their answers are in {}, and the same command goes on",
                            budget.calls, flags.store)
              : fmt::format("stopped after {} calls; nothing was kept", budget.calls));
  }
  if (record.models.size() > 1) {
    std::vector<TextResult> results;
    for (const TextModelRecord& model : record.models) results.push_back(model.result);
    for (const PromptFamily family : record.options.families)
      record.rankings.push_back(rank_text(results, family, record.convention, record.options.confidence));
  }
  record.calls = budget.calls;
  record.tokens = budget.tokens;
  record.warnings = text_warnings(record);
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  files.write([&] { return text_json(record); }, [&] { return text_csv(record); });
  if (run.quiet) return;
  fmt::print("{}", text_table(record));
  print_warnings(record.warnings);
}

void add_asking(CLI::App& app, TextCommand& command) {
  app.add_option("--prompts", command.prompts,
                 "prompts.txt with one a line, or .jsonl or .csv with a column 'prompt' (and id, domain)")
      ->required()
      ->type_name("FILE")
      ->group("Prompts");
  app.add_option("--labels", command.columns.labels,
                 "column that says whether the model's answer is correct: AUROC of gamma, of "
                 "plain resampling with as many calls, and of answer length")
      ->type_name("COLUMN")
      ->group("Prompts");
  app.add_flag("--no-resampling", command.no_resampling, "with --labels: without resampling and its calls")
      ->group("Prompts")
      ->needs("--labels");
  app.add_option("--rating", command.columns.rating,
                 "column with people's ratings of the answers: rank correlation, and means by band")
      ->type_name("COLUMN")
      ->group("Prompts");
  auto* const variants =
      app.add_option("--variants", command.options.variants, "of a prompt in each family [10]")
          ->check(CLI::Range(2, 10000))
          ->group("Variants");
  auto* const families = app.add_option("--family", command.families,
                                        "appended, inserted, invisible, whitespace, typing, case, utf8: "
                                        "some, with commas, or all [appended]")
                             ->group("Variants");
  auto* const repeats = app.add_option("--repeats", command.options.repeats,
                                       "further answers to the unchanged prompt, for the noise floor [3]")
                            ->check(CLI::Range(0, 1000))
                            ->group("Variants");
  auto* const convention =
      app.add_option("--convention", command.convention,
                     "how angles are written: angle (radians), chord, sin or paper [angle]")
          ->check(CLI::IsMember({"angle", "chord", "sin", "paper"}))
          ->group("Variants");
  app.add_flag(
         "--paper", command.paper,
         "the authors' procedure: 10 appended variants, no repeats, the plain angle in their convention")
      ->group("Variants")
      ->excludes(variants, families, repeats, convention);
  app.add_option("--ascend", command.ascend,
                 "also walk from every prompt to ones with larger gamma, so many steps, by characters of "
                 "code points up to "
                 "500 after it; with --paper by the authors' own walk [0]")
      ->check(CLI::Range(0, 1000))
      ->type_name("STEPS")
      ->group("Variants");
  app.add_option("--confidence", command.options.confidence, "of the intervals [0.95]")->group("Variants");
}

}  // namespace

void add_text_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<TextCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app =
      *program.add_subcommand("text", "How steady a language model's answers are: gamma of prompts");
  add_asking(app, *command);
  add_text_flags(app, command->flags);
  app.add_option("--seed", command->seed, "start of all random draws [1]")
      ->check(CLI::NonNegativeNumber)
      ->group("Run");
  app.add_option("--max-calls", command->most_calls, "never make more chat calls than this, retries counted")
      ->check(CLI::PositiveNumber)
      ->group("Run");
  app.add_option("--max-total-tokens", command->most_tokens, "never spend more tokens than this")
      ->check(CLI::PositiveNumber)
      ->group("Run");
  app.add_flag("--dry-run", command->run.dry_run, "say how many calls it would take at most, and make none")
      ->group("Run");
  app.add_option("--json", command->run.json, "write the result as JSON")->type_name("FILE")->group("Result");
  app.add_option("--html", command->run.html, "write a report: one page with plots, to open in a browser")
      ->type_name("FILE")
      ->group("Result");
  app.add_option("--csv", command->run.csv, "write the rows as CSV")->type_name("FILE")->group("Result");
  app.add_flag("--quiet", command->run.quiet, "no table, no progress")->group("Result");
  app.footer(R"(Examples:
  harmonia text --chat http://127.0.0.1:8080/v1 --model smollm2 --prompts prompts.txt
  harmonia text --chat http://127.0.0.1:8080/v1 --model a --model b --prompts prompts.csv --family all --json result.json
  harmonia text --chat https://host/v1 --model large --key-env MY_KEY --prompts prompts.csv --labels correct --dry-run

gamma is the angle between the embedding of the answer and the mean of the answers to small changes of the prompt:
0 for an answer that stays the same. The floor is how far repeats of the unchanged prompt scatter, the excess what is left of
gamma without it. The resultant tells answers that cancel each other (near 0) from answers that agree (1). Bands are those of
the paper's authors, on their own √(1 − cos θ). Low gamma is steady, which is not the same as true: --labels tells how
well it finds wrong answers of yours. Answers are kept in --store the moment they come: a run that was stopped goes on.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
