#include "gamma_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/image_source.hpp"
#include "harmonia/data/spread.hpp"

namespace harmonia {
namespace {

constexpr const char* kUsualBall = "simplex+anti";

// Of images [Kersting 2024, section 5].
constexpr const char* kPaperSize = "100x100";
constexpr const char* kPaperRadius = "100";

double parse_radius(const std::string& text) {
  double radius = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, radius) != std::from_chars_result{end, std::errc{}}) {
    throw Error(ErrorCode::usage,
                fmt::format("--radius {}; expected a number above 0, or auto", in_quotes(text)));
  }
  return radius;
}

}  // namespace

std::size_t count_rows(RowSource& data) {
  if (data.info().rows) return *data.info().rows;
  std::size_t rows = 0;
  RowBlock block;
  while (data.read(block, rows_per_block(data.info().inputs))) rows += block.values.rows();
  data.rewind();
  return rows;
}

void add_gamma_flags(CLI::App& command, GammaFlags& flags, bool with_radius) {
  if (with_radius) {
    command
        .add_option("--radius", flags.radius,
                    "of the ball, in units of --scale; auto: a tenth of the median distance to the "
                    "nearest row")
        ->group("Ball");
  }
  flags.with_radius = with_radius;
  command
      .add_option("--ball", flags.ball,
                  "simplex, anti, simplex+anti, cross, one-hot, rotated:K, rotated-simplex:K, "
                  "rademacher[:N], random:N, random-pairs:N, gaussian:N; of images pixel, patch:K "
                  "[simplex+anti; of images of more than 1000 values pixel]")
      ->group("Ball");
  command
      .add_option("--pixel-range", flags.pixel_range,
                  "where a step that leaves 0 … 255 goes: free (on), symmetric (cut short on both sides), "
                  "reflect (back) [free]")
      ->check(CLI::IsMember({"free", "symmetric", "reflect"}))
      ->group("Images");
  command.add_option("--average", flags.average, "over the sphere's surface or the solid ball [surface]")
      ->check(CLI::IsMember({"surface", "solid"}))
      ->group("Ball");
  command
      .add_option("--output", flags.output,
                  "label, predicted, column:K, norm, angle, all or flip [predicted]")
      ->group("Measure");
  GammaOptions& options = flags.options;
  command
      .add_option(
          "--sample", options.sample,
          "draw exactly this many pairs of the ball instead of all; under about 16 often say too little")
      ->check(CLI::Range(1LL, 4294967296LL))
      ->group("Measure");
  command
      .add_option("--precision", options.precision,
                  "draw pairs until the interval is this share of gamma (needs --floor)")
      ->group("Measure");
  command.add_option("--floor", options.floor, "… or this narrow")->group("Measure");
  CLI::Option* paper =
      command.add_flag("--paper", options.paper, "the paper's own procedure, to reproduce published numbers")
          ->group("Measure");
  for (const char* other : {"--ball", "--average", "--sample", "--precision", "--floor"})
    paper->excludes(other);
  command.add_option("--confidence", options.confidence, "of every interval [0.95]")->group("Measure");
  command
      .add_option("--batch", options.batch,
                  "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
}

void complete(GammaFlags& flags, SubjectOptions& subject) {
  if (flags.options.paper && is_image_data(subject.data)) {
    subject.images.grey = true;
    if (subject.images.size.empty()) subject.images.size = kPaperSize;
    if (flags.radius.empty()) flags.radius = kPaperRadius;
  }
  if (flags.with_radius && flags.radius.empty()) throw Error(ErrorCode::usage, "--radius is required");
}

GammaOptions asked_options(const GammaFlags& flags) {
  GammaOptions options = flags.options;
  options.ball = parse_ball(flags.ball.empty() ? kUsualBall : flags.ball);
  options.ball.average = flags.average == "solid" ? Average::solid : Average::surface;
  options.output = parse_output(flags.output);
  return options;
}

GammaRunRecord asked_record(const GammaFlags& flags, const SubjectOptions& options, const Subject& subject,
                            const std::string& command_line) {
  GammaRunRecord record;
  record.options = asked_options(flags);
  record.options.schema = subject.schema;
  const ImageShape& image = subject.data->info().image;
  if (flags.ball.empty() && image.values() > kWholeBallValues) record.options.ball.kind = BallKind::pixel;
  record.options.ball.image = image;
  if (flags.radius == "auto") {
    record.options.ball.radius = automatic_radius(subject.schema, subject.reference(), options.seed);
    record.automatic_radius = true;
  } else if (!flags.radius.empty()) {
    record.options.ball.radius = parse_radius(flags.radius);
  }
  record.data = subject.data->info();
  record.options = resolve(record.options, record.data.inputs);
  record.scale = options.scale;
  record.model_output = options.model_options.output_name;
  record.margin = measures_margin(options, subject);
  record.has_schema = !record.options.schema.empty();
  record.description_path = subject.images.path;
  record.description = subject.images.description;
  if (image.values() > 0) {
    record.pixel_range = parse_pixel_range(flags.pixel_range);
    bound_pixels(record.options.schema, image.values(), record.pixel_range);
  } else if (flags.pixel_range != "free") {
    throw Error(ErrorCode::usage,
                fmt::format("--pixel-range is of images; {} is a table", record.data.source));
  }
  record.seed = options.seed;
  record.command_line = command_line;
  return record;
}

void check_paths(const RunOptions& run, const SubjectOptions& subject, const std::vector<std::string>& models,
                 const std::string& further) {
  std::vector<std::string> read = models;
  read.push_back(subject.data);
  read.push_back(subject.schema_file);
  for (const std::string& region : subject.data_options.regions) {
    if (region.starts_with("hull:")) read.push_back(region.substr(5, region.find('?') - 5));
  }
  check_files({run.json, run.csv, run.html, run.resume, further}, read);
}

void print_forecast(const Subject& subject, const GammaOptions& options,
                    const std::vector<std::string>& models, std::size_t times, const ModelOptions& how,
                    const RunOptions& run) {
  const std::uint64_t rows = count_rows(*subject.data),
                      each = gamma_cost(options, subject.data->info().inputs),
                      measured = models.size() * times;
  std::uint64_t opening = 0;
  for (const std::string& model : models) opening += rows_to_open(model, how);
  if (models.size() == 1 && subject.model) opening = subject.model->info().example_rows;
  const std::uint64_t all = rows * each * measured + opening;
  const char* most = options.precision > 0 ? "at most " : "";
  fmt::print(
      "{} × {}{} evaluations{}{} = {}{} in all; nothing was asked of the model{}\n", counted(rows, "row"),
      most, each, measured > 1 ? fmt::format(" × {} {}", measured, times > 1 ? "radii" : "models") : "",
      opening > 0 ? fmt::format(" + {} to open the model{}", opening, models.size() > 1 ? "s" : "") : "",
      most, all, models.size() > 1 ? "s" : "");
  if (run.max_evaluations > 0 && all > run.max_evaluations) {
    fmt::print(
        "--max-evaluations {} is enough for about {}\n", run.max_evaluations,
        counted((run.max_evaluations - std::min(opening, run.max_evaluations)) / (each * measured), "row"));
  }
}

std::vector<std::string> scale_warnings(const SubjectOptions& options, const Subject& subject) {
  if (options.scale != "none" || !options.schema_file.empty()) return {};
  if (subject.data->info().image.values() > 0) return {};  // pixels have one unit
  const std::optional<std::string> sentence = scale_warning(subject.reference());
  return sentence ? std::vector{*sentence} : std::vector<std::string>{};
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& sentence : warnings)
    std::fputs(fmt::format("warning: {}\n", printable(sentence, std::string::npos)).c_str(), stderr);
}

}  // namespace harmonia
