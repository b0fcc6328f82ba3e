#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "gamma_flags.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/image_source.hpp"
#include "harmonia/data/spread.hpp"
#include "harmonia/model/feature_names.hpp"
#include "harmonia/model/image_model.hpp"

namespace harmonia {
namespace {

constexpr const char* kModelForms =
    "net.onnx, net.pt (TorchScript), booster.json or .ubj (XGBoost), booster.txt (LightGBM), fn:NAME[?n=N], "
    "cmd:PROGRAM ARGS, "
    "http(s)://host/v2/models/NAME";
constexpr const char* kDataForms =
    "rows.csv, rows.npy, grid:0..5x101,1..4x61, uniform:1000; of images a folder, a .png or .jpg file, "
    "images-idx3-ubyte; FILE#ROW is one row";

}  // namespace

CLI::Validator finite_number(const std::string& expected, bool (*good)(double)) {
  return CLI::Validator(
      [=](std::string& text) {
        const std::optional<double> value = read_number(text);
        const bool fits = value && std::isfinite(*value) && good(*value);
        return fits ? std::string() : fmt::format("{}; expected {}", in_quotes(text), expected);
      },
      "");
}

CLI::Option* add_model_argument(CLI::App& command, SubjectOptions& o) {
  command.add_option("MODEL", o.model, kModelForms)->required();
  return command.add_option("DATA", o.data, kDataForms)->required();
}

void add_models_argument(CLI::App& command, std::vector<std::string>& models_and_data) {
  command
      .add_option("MODEL... DATA", models_and_data,
                  fmt::format("models: {}\ndata, the last: {}", kModelForms, kDataForms))
      ->required()
      ->type_name("")
      ->expected(-1);
}

void add_reaching_options(CLI::App& command, ModelOptions& o) {
  command.add_option("--model-kind", o.kind, "kind of model, if its address or file does not tell")
      ->group("Model");
  command
      .add_option("--header", o.headers, "'Name: value' sent with every request to a server; may be repeated")
      ->allow_extra_args(false)
      ->group("Model");
  command
      .add_option("--ca-file", o.ca_file, "PEM file of the authorities that a server is trusted by over TLS")
      ->group("Model");
  command.add_option("--timeout", o.timeout_seconds, "seconds to wait for one answer [60]")
      ->check(finite_number("a number above 0", [](double seconds) { return seconds > 0; }))
      ->group("Model");
  command.add_option("--retries", o.retries, "further tries after a 5xx or a lost connection [4]")
      ->check(CLI::Range(0, 100))
      ->group("Model");
  command.add_option("--device", o.device, "where a TorchScript model runs: cpu, cuda or cuda:N [cpu]")
      ->group("Model");
  command
      .add_flag_callback(
          "--no-fast-path", [&o] { o.fast_path = false; },
          "answer every point for itself, whatever is known of the model")
      ->group("Model");
  command.add_flag("--missing", o.takes_missing, "the model answers rows with missing values (nan)")
      ->group("Model");
}

void add_subject_options(CLI::App& command, SubjectOptions& o) {
  add_reaching_options(command, o.model_options);
  command
      .add_option("--model-output", o.model_options.output_name,
                  "name of the output to use, of a model that has several; of an ONNX file any value in "
                  "its graph [the first that holds real numbers: probabilities, not the label]")
      ->group("Model");
  command
      .add_flag("--margin", o.model_options.margin,
                "measure the value before the link instead of the probability; of a LightGBM random forest "
                "the trees' "
                "average, where its raw_score is their sum")
      ->group("Model");
  command.add_flag("--binary", o.model_options.binary, "the single output is the probability of class 1")
      ->group("Model");
  command.add_option("--columns", o.data_options.columns, "features, by name or number, in this order")
      ->delimiter(',')
      ->group("Data");
  command.add_option("--drop", o.data_options.drop, "columns to leave out")->delimiter(',')->group("Data");
  command.add_option("--id", o.data_options.id, "column carried to the result as the row's id")
      ->group("Data");
  command.add_option("--label", o.data_options.label, "column carried to the result as the row's label")
      ->group("Data");
  command
      .add_option(
          "--region", o.data_options.regions,
          "only rows inside: box:0..5,1..4 or box:AGE=20..40; hull:FILE[?columns=A,B], the convex hull of a "
          "file's rows; may be repeated")
      ->allow_extra_args(false)
      ->group("Data");
  command
      .add_option("--window", o.data_options.window, "only rows FIRST..LAST, by number from 0, both included")
      ->group("Data");
  command
      .add_flag("--jitter", o.data_options.jitter,
                "move every point of a grid at random within its cell, against aliasing")
      ->group("Data");
  command
      .add_option("--description", o.images.description,
                  "JSON file: how images come to the model [net.image.json beside net.onnx]")
      ->group("Images");
  command.add_option("--size", o.images.size, "HEIGHTxWIDTH that images are brought to [as described]")
      ->group("Images");
  command.add_flag("--grey", o.images.grey, "make images grey")->group("Images");
  command
      .add_option("--labels", o.data_options.labels,
                  "labels of the images: a table file,label, or labels-idx1-ubyte [the sub-folders' names]")
      ->group("Images");
  command
      .add_option("--schema", o.schema_file,
                  "JSON file: scale, bounds, integer, categorical, immutable features")
      ->group("Data");
  command.add_option("--scale", o.scale, "unit of the radius per feature: none, std or range [none]")
      ->check(CLI::IsMember({"none", "std", "range"}))
      ->group("Data");
  command.add_option("--seed", o.seed, "start of all random draws [1]")
      ->check(CLI::NonNegativeNumber)
      ->group("Run");
}

void add_run_limits(CLI::App& command, RunOptions& o) {
  command.add_option("--threads", o.threads, "model calls at the same time [one per core]")
      ->check(CLI::Range(1, 1024))
      ->group("Run");
  command.add_option("--max-evaluations", o.max_evaluations, "never ask the model for more rows than this")
      ->check(CLI::PositiveNumber)
      ->group("Run");
  command.add_flag("--dry-run", o.dry_run, "say how many evaluations it would take, and ask for none")
      ->group("Run");
}

void add_run_options(CLI::App& command, RunOptions& o) {
  add_run_limits(command, o);
  command.add_option("--json", o.json, "write the result as JSON")->type_name("FILE")->group("Result");
  command.add_option("--html", o.html, "write a report: one page with plots, to open in a browser")
      ->type_name("FILE")
      ->group("Result");
  command.add_option("--csv", o.csv, "write the rows as CSV")->type_name("FILE")->group("Result");
  command.add_flag("--quiet", o.quiet, "no table, no progress")->group("Result");
}

void add_resume_option(CLI::App& command, RunOptions& o) {
  command.add_option("--resume", o.resume, "keep progress in FILE, and go on from there if it exists")
      ->type_name("FILE")
      ->group("Run");
}

ImageShape parse_image(const std::string& text, std::size_t inputs) {
  ImageShape shape{.height = 0, .width = 0, .channels = 1};
  const char *at = text.data(), *const end = at + text.size();
  bool good = true;
  for (std::size_t* const part : {&shape.height, &shape.width, &shape.channels}) {
    if (part == &shape.channels && at == end) break;
    if (part != &shape.height) good = good && at != end && *at++ == 'x';
    const auto read = std::from_chars(at, end, *part);
    good = good && read.ec == std::errc{};
    at = read.ptr;
  }
  const bool fits = (shape.channels == 1 || shape.channels == 3) && shape.height > 0 &&
                    inputs / shape.height / shape.channels == shape.width && shape.values() == inputs;
  if (good && at == end && fits) return shape;
  throw Error(ErrorCode::usage,
              fmt::format("--image {}; expected HEIGHTxWIDTH, or HEIGHTxWIDTHx3 of colours, of rows of {} "
                          "features",
                          in_quotes(text), inputs));
}

Subject open_subject(const SubjectOptions& options) {
  DataOptions data_options = options.data_options;
  data_options.seed = options.seed;
  Subject subject;
  if (is_image_data(options.data)) {
    subject.images = ask_images(options.model, options.images);
    data_options.image = subject.images.shape;
    data_options.fit = subject.images.fit;
    data_options.resize = subject.images.resize;
    subject.data = open_data(options.data, data_options);
  } else if (!options.images.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("--description, --size and --grey are of images; {} is a table", options.data));
  }
  if (!needs_example(options.model, options.model_options)) {
    subject.model = open_asked_model(options.model, options.model_options, options, subject);
    data_options.inputs = subject.model->info().inputs;
  }
  if (!subject.data) subject.data = open_data(options.data, data_options);
  if (subject.model) check_columns(subject.model->info(), subject.data->info(), options);
  if (options.data.find('#') != std::string::npos || !data_options.regions.empty() ||
      !data_options.window.empty())
    subject.whole = open_whole_data(options.data, data_options);
  if (!options.schema_file.empty()) {
    subject.schema = load_schema(options.schema_file, feature_names(subject.data->info()));
  } else if (options.scale != "none") {
    subject.schema = plain_schema(feature_names(subject.data->info()));
  }
  scale_features(subject.schema, options.scale, subject.reference());
  RowBlock block;
  subject.data->read(block, 1);
  subject.example.assign(block.values.row(0), block.values.row(0) + block.values.columns());
  subject.data->rewind();
  subject.data_options = std::move(data_options);
  return subject;
}

std::unique_ptr<Model> open_asked_model(const std::string& address, const ModelOptions& how,
                                        const SubjectOptions& options, const Subject& subject) {
  AskedImages images = subject.images;
  if (images.shape != ImageShape{} && address != options.model) {
    images = ask_images(address, options.images);
    // All models see the same images.
    if (images.description) images.description->shape = subject.images.shape;
  }
  std::unique_ptr<Model> model =
      images.description ? open_image_model(address, how, *images.description, images.path, subject.example)
                         : open_model(address, how, subject.example);
  if (!model->info().warning.empty()) print_warnings({model->info().warning});
  return model;
}

bool measures_margin(const SubjectOptions& options, const Subject& subject) {
  if (!subject.images.description) return options.model_options.margin;
  return measures_logits(options.model, options.model_options, *subject.images.description);
}

void check_columns(const ModelInfo& model, const DataInfo& data, const SubjectOptions& options) {
  if (options.data_options.columns.empty()) check_features(model, data);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code unreachable;
  return !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, unreachable));
}

void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  std::vector<std::string> others = written;
  for (const std::string& data : read)
    others.push_back(data.substr(0, data.find('#')));  // of a row, its file
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = i + 1; j < others.size(); ++j) {
      if (!same_file(written[i], others[j])) continue;
      throw Error(ErrorCode::usage,
                  fmt::format("{} is named twice; expected a file of its own for each", written[i]));
    }
  }
}

std::string command_line(int argc, char** argv) {
  std::string line = "harmonia";
  bool secret = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (secret) word = "…";
    secret = word == "--header";
    if (word.starts_with("--header=")) word = "--header=…";
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"$`\\|&;<>()[]{}!*?#~") == std::string::npos;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += " " + (plain ? word : quoted + "'");
  }
  return line;
}

}  // namespace harmonia
