#include "attack_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "gamma_flags.hpp"
#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/npy_writer.hpp"
#include "harmonia/report/attack_pictures.hpp"
#include "harmonia/report/attack_report.hpp"
#include "harmonia/search/attack_study.hpp"
#include "interrupt.hpp"
#include "measuring.hpp"
#include "options.hpp"
#include "whole_result.hpp"

namespace harmonia {
namespace {

struct AttackCommand {
  SubjectOptions subject;
  RunOptions run;
  AttackOptions options;
  double confidence = 0.95;
  std::string method = "gamma", against, image, pictures, line;
  std::string norm, target, adversarial, outputs = "logits";
  bool no_random_start = false;
  const CLI::App* app = nullptr;

  void execute();
  void check_used(AttackMethod first, AttackMethod second) const;
  AttackOptions asked_options() const;
  AttackRunRecord record_of(const Subject& what) const;
  void print_forecast(const Subject& what, const AttackRunRecord& record) const;
};

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path, error))
    throw Error(ErrorCode::input, fmt::format("--pictures {}: cannot make this folder", path));
}

// The image found, and the strip of how it came about.
void write_pictures(const std::filesystem::path& folder, const AttackRow& row, const AttackOptions& options) {
  if (!row.success) return;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    AtomicFile file((folder / fmt::format("row-{}-{}.png", row.row, name)).string());
    file.write(bytes);
    file.commit();
  };
  write("adversarial", attack_png(row, options, row.adversarial));
  write("strip", strip_png(row, options));
}

// Options that some methods have, and whose.
struct OptionOfMethods {
  const char* name;
  bool (*used)(AttackMethod);
};
constexpr std::array kOptionsOfMethods{
    OptionOfMethods{"--radius", [](AttackMethod m) { return !uses_gradients(m); }},
    OptionOfMethods{"--candidates", [](AttackMethod m) { return !uses_gradients(m); }},
    OptionOfMethods{"--steps", [](AttackMethod m) { return m != AttackMethod::fgsm; }},
    OptionOfMethods{"--norm", uses_gradients},
    OptionOfMethods{"--outputs", uses_gradients},
    OptionOfMethods{"--step-size",
                    [](AttackMethod m) {
                      return uses_gradients(m) && m != AttackMethod::fgsm && m != AttackMethod::lbfgs;
                    }},
    OptionOfMethods{"--decay", [](AttackMethod m) { return m == AttackMethod::mifgsm; }},
    OptionOfMethods{"--penalty", [](AttackMethod m) { return m == AttackMethod::pgd_penalty; }},
    OptionOfMethods{"--constant",
                    [](AttackMethod m) { return m == AttackMethod::cw || m == AttackMethod::lbfgs; }},
    OptionOfMethods{"--kappa",
                    [](AttackMethod m) { return m == AttackMethod::cw || m == AttackMethod::lbfgs; }},
    OptionOfMethods{"--no-random-start", [](AttackMethod m) { return m == AttackMethod::pgd; }},
};

void AttackCommand::check_used(AttackMethod first, AttackMethod second) const {
  for (const OptionOfMethods& option : kOptionsOfMethods) {
    if (app->count(option.name) == 0 || option.used(first) || option.used(second)) continue;
    const std::string methods =
        first == second
            ? fmt::format("method {} has", attack_method_name(first))
            : fmt::format("methods {} and {} have", attack_method_name(first), attack_method_name(second));
    throw Error(ErrorCode::usage, fmt::format("{}: {} no such option", option.name, methods));
  }
}

// All that is known without the data.
AttackOptions AttackCommand::asked_options() const {
  AttackOptions asked = options;
  asked.method = parse_attack_method(method);
  const AttackMethod other = against.empty() ? asked.method : parse_attack_method(against);
  check_used(asked.method, other);
  if (asked.steps == 0) asked.steps = std::max(standard_steps(asked.method), standard_steps(other));
  for (const AttackMethod each : {asked.method, other}) {
    if (!(options.radius > 0) && !uses_gradients(each))
      throw Error(ErrorCode::usage,
                  fmt::format("--radius is required: method {} steps by it", attack_method_name(each)));
    if (!(options.epsilon > 0) && needs_epsilon(each))
      throw Error(ErrorCode::usage,
                  fmt::format("--epsilon is required: it is the size of the ball of method {}",
                              attack_method_name(each)));
  }
  asked.go_on = options.go_on || options.paper;
  if (!norm.empty()) asked.gradient.norm = parse_attack_norm(norm);
  if (!target.empty()) asked.gradient.target = parse_attack_target(target);
  asked.gradient.probabilities = outputs == "probabilities";
  asked.gradient.random_start = !no_random_start;
  return asked;
}

AttackRunRecord AttackCommand::record_of(const Subject& what) const {
  AttackRunRecord record;
  record.options = asked_options();
  if (!against.empty()) record.against = parse_attack_method(against);
  record.options.schema = what.schema;
  record.data = what.data->info();
  if (!image.empty() && record.data.image.channels > 0) {
    throw Error(ErrorCode::usage, fmt::format("--image is of tables; {} are images with a shape of their own",
                                              record.data.source));
  }
  if (!image.empty()) {
    record.options.image = parse_image(image, record.data.inputs);
  } else {
    record.options = of_images(std::move(record.options), record.data.image);
  }
  if (!pictures.empty() && record.options.image.channels == 0)
    throw Error(ErrorCode::usage,
                "--pictures is of images; expected --image HEIGHTxWIDTH, or a folder of images");
  record.confidence = confidence;
  record.scale = subject.scale;
  record.model_output = subject.model_options.output_name;
  record.margin = measures_margin(subject, what);
  // What the description of images says, where the value before the softmax cannot be had.
  if (what.images.description && what.images.description->probabilities && !record.margin)
    record.options.gradient.probabilities = true;
  record.seed = subject.seed;
  record.command_line = line;
  return record;
}

void AttackCommand::print_forecast(const Subject& what, const AttackRunRecord& record) const {
  const std::uint64_t rows = count_rows(*what.data);
  const std::uint64_t opening =
      what.model ? what.model->info().example_rows : rows_to_open(subject.model, subject.model_options);
  std::uint64_t each = attack_cost(record.options, record.data.inputs);
  if (record.against) {
    AttackOptions other = record.options;
    other.method = *record.against;
    each += attack_cost(other, record.data.inputs);
  }
  fmt::print("{} × at most {} = at most {} evaluations; nothing was asked of the model\n",
             counted(rows, "row"), counted(each, "evaluation"), rows * each + opening);
}

void AttackCommand::execute() {
  const std::stop_token stop = stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  check_paths(run, subject, {subject.model}, adversarial);
  asked_options();  // throws before anything is opened
  subject.model_options.stop = stop;
  Subject what = open_subject(subject);
  AttackRunRecord record = record_of(what);
  if (run.dry_run) return print_forecast(what, record);

  Run state = new_run(subject, run, stop);
  if (!what.model) what.model = open_asked_model(subject.model, subject.model_options, subject, what);
  record.model = what.model->info();
  state.ledger.spend(record.model.example_rows);
  WholeResult files(run);
  std::optional<AtomicFile> found_file;
  if (!adversarial.empty()) found_file.emplace(adversarial);
  NpyWriter<double> found(record.data.inputs);
  if (!pictures.empty()) make_folder(pictures);
  AttackStudy study = measured(run, state, [&] {
    return attack_study(*what.model, *what.data, record.options, record.against, confidence, state,
                        [&](const AttackRow& row) {
                          if (!pictures.empty()) write_pictures(pictures, row, record.options);
                          if (found_file && row.success) found.add(row.adversarial.data());
                        });
  });
  study.evaluations += record.model.example_rows;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> warnings = study.warnings;
  if (record.options.image.channels == 0) {  // Pixels are all of one kind, however they spread.
    for (const std::string& sentence : scale_warnings(subject, what)) warnings.push_back(sentence);
  }
  files.write([&] { return attack_json(record, study, warnings); }, [&] { return attack_csv(study); });
  if (found_file) {
    found_file->write(found.bytes());
    found_file->commit();
  }
  if (!run.quiet) fmt::print("{}", attack_table(record, study));
  print_warnings(warnings);
}

void add_search_options(CLI::App& app, AttackCommand& command) {
  AttackOptions& options = command.options;
  app.add_option(
         "--method", command.method,
         "gamma (one feature a step, by gamma), random (the control: as many features and calls), nes "
         "(estimated gradients), boundary (from classes alone) or greedy (by the output, not gamma); of "
         "models "
         "with gradients fgsm, rfgsm, bim, mifgsm, pgd, pgd-penalty, cw, lbfgs [gamma]")
      ->group("Search");
  app.add_option("--against", command.against,
                 "a second method on the same rows with the same options: how much its share of changed "
                 "classes differs")
      ->group("Search");
  options.steps = 0;  // the method's own
  app.add_option(
         "--steps", options.steps,
         "features changed one after another, or iterations [25; 10 of rfgsm, bim, mifgsm and pgd, 100 of "
         "pgd-penalty and cw; fgsm takes one]")
      ->check(CLI::Range(1, 1 << 20))
      ->group("Search");
  app.add_option("--radius", options.radius,
                 "the step of a feature, in units of --scale; methods by gradients have none")
      ->check(finite_number("a number above 0", [](double r) { return r > 0; }))
      ->group("Search");
  app.add_option("--candidates", options.candidates,
                 "features tried a step (gamma), pairs of an estimate (nes, boundary) [20]")
      ->check(CLI::Range(1, 1 << 20))
      ->group("Search");
  const auto any = finite_number("a number", [](double) { return true; });
  app.add_option("--lower", options.lower, "no value gets below this [none; of images 0]")
      ->check(any)
      ->group("Search");
  app.add_option("--upper", options.upper, "no value gets above this [none; of images 255]")
      ->check(any)
      ->group("Search");
  app.add_option(
         "--epsilon", options.epsilon,
         "nes: the farthest that a feature is moved; boundary: how far a row that counts may be; fgsm to "
         "pgd: the size of the ball, in units of --scale (of images pixel values, 0 to 255)")
      ->check(finite_number("a number above 0", [](double e) { return e > 0; }))
      ->group("Search");
  app.add_flag("--paper", options.paper,
               "gamma as the paper's Algorithm 2, and random with as many calls; takes all steps")
      ->group("Search");
  app.add_flag("--go-on", options.go_on,
               "take all steps even after the class has changed; boundary always does")
      ->group("Search");
  app.add_option("--image", command.image,
                 "rows of a table are images: all channels of a pixel move together")
      ->type_name("HEIGHTxWIDTH[x3]")
      ->group("Search");
  app.add_option(
         "--pictures", command.pictures,
         "write every image whose class changed here: row-N-adversarial.png, and row-N-strip.png with "
         "the image after some steps over the numbers of their classes")
      ->type_name("FOLDER")
      ->group("Result");
  app.add_option("--adversarial", command.adversarial,
                 "write the rows found, those whose class changed, in the order of DATA; of the first method")
      ->type_name("FILE.npy")
      ->group("Result");
  app.add_option("--confidence", command.confidence, "of every interval [0.95]")
      ->check(finite_number(fmt::format("a number between 0 and 1 - {}", kLeastDoubt), is_confidence))
      ->group("Search");
  app.add_option("--batch", options.batch,
                 "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
}

void add_gradient_options(CLI::App& app, AttackCommand& command) {
  GradientOptions& options = command.options.gradient;
  const auto above = finite_number("a number above 0", [](double value) { return value > 0; });
  const auto from_zero = finite_number("0 or more", [](double value) { return value >= 0; });
  const auto add = [&](const char* name, auto& value, const char* words) {
    return app.add_option(name, value, words)->group("Gradients");
  };
  add("--norm", command.norm, "of fgsm to pgd: linf (steps by signs) or l2 (along the gradient) [linf]");
  add("--target", command.target, "the class to come to: its number, next, random or least [any other]")
      ->type_name("CLASS");
  add("--step-size", options.step_size,
      "of every step [a quarter of --epsilon, a fifth with l2; pgd-penalty: at most 0.1 times the gradient; "
      "cw: "
      "Adam's rate, 0.01]")
      ->check(above);
  add("--decay", options.decay, "mifgsm: of the sum of gradients [1]")->check(from_zero);
  add("--penalty", options.penalty, "pgd-penalty: weight of the squared distance")->check(above);
  add("--constant", options.constant, "cw: weight of the margin [1]; lbfgs: first weight of the loss [0.01]")
      ->check(above);
  add("--kappa", options.kappa, "cw, lbfgs: by how much the other class is to lead [0]")->check(from_zero);
  app.add_flag("--no-random-start", command.no_random_start, "pgd: start at the row itself")
      ->group("Gradients");
  add("--outputs", command.outputs,
      "what the model's outputs are: logits, or probabilities, of which the logarithm is taken [logits; of a "
      "single one probabilities]")
      ->check(CLI::IsMember({"logits", "probabilities"}));
}

}  // namespace

void add_attack_command(CLI::App& program, int argc, char** argv) {
  const auto command = std::make_shared<AttackCommand>();
  command->line = command_line(argc, argv);
  CLI::App& app = *program.add_subcommand("attack", "Looks for a row of another class near every row");
  command->app = &app;
  add_model_argument(app, command->subject);
  add_subject_options(app, command->subject);
  add_search_options(app, *command);
  add_gradient_options(app, *command);
  add_run_options(app, command->run);
  app.footer(R"(Examples:
  harmonia attack digits.onnx digits.npy --radius 0.5 --lower 0 --upper 1 --image 28x28 --html attack.html
  harmonia attack digits.onnx digits.npy --radius 0.5 --lower 0 --upper 1 --against random --csv rows.csv
  harmonia attack net.onnx photos/ --radius 100 --pictures changed/
  harmonia attack "fn:ball-class?n=10" uniform:20 --method boundary --radius 0.1
  harmonia attack "fn:soft-ball?n=10" uniform:20 --method pgd --epsilon 0.3 --against fgsm
  harmonia attack "fn:soft-ball?n=10" uniform:20 --method cw --target next

gamma moves --candidates features by the radius, both ways, and takes a point of another class at once; of the rest
the four whose output of the class is least are measured, and the search goes to the one of largest gamma, after
measuring the best two once more on fresh points. No feature is moved twice. random asks about sets of as many
features at random, with as many calls at most. Every row takes at most what --dry-run says.

Methods by gradients need a model that has them, and take its outputs for logits: steps climb the cross-entropy of the
row's class, or descend that of --target. They stop at the first row of another class unless --go-on is given; cw and
lbfgs take all steps and keep the nearest row.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
