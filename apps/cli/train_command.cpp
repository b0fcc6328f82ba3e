#include "train_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/labelled_rows.hpp"
#include "harmonia/data/manifold.hpp"
#include "harmonia/model/training.hpp"
#include "harmonia/report/training_report.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace harmonia {
namespace {

constexpr double kPixels = 255;  // what images' values go up to
constexpr double kConfidence = 0.95;

struct TrainCommand {
  std::string data, test, test_labels, out, csv, image, align = "none";
  DataOptions how;
  ManifoldOptions plane;
  TrainingOptions options;
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  bool quiet = false;

  void execute();
  TrainingOptions asked_options() const;
  void describe_network(const RowSource& rows, const LabelledRows& labelled, NetworkShape& network) const;
  std::optional<LabelledRows> test_rows(const DataInfo& training) const;
};

void write_file(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

// Throws if the file's folder cannot be written to.
void check_folder(const std::string& path) { const AtomicFile unfinished(path); }

TrainingOptions TrainCommand::asked_options() const {
  TrainingOptions asked = options;
  asked.term = parse_alignment_term(align);
  const std::size_t layers = asked.network.hidden.size() + 1;
  if (asked.penalties.size() == 1) asked.penalties.assign(layers, asked.penalties.front());
  if (asked.adversarial.lower && asked.adversarial.upper &&
      !(*asked.adversarial.lower < *asked.adversarial.upper))
    throw Error(ErrorCode::usage, "--lower is not below --upper");
  return asked;
}

// What the rows say of the network.
void TrainCommand::describe_network(const RowSource& rows, const LabelledRows& labelled,
                                    NetworkShape& network) const {
  const DataInfo& info = rows.info();
  network.inputs = info.inputs;
  network.classes =
      static_cast<std::size_t>(*std::max_element(labelled.classes.begin(), labelled.classes.end())) + 1;
  const bool pixels = info.image.channels > 0;
  if (pixels) network.unit = kPixels;
  if (network.channels == 0) return;
  if (pixels) {
    network.image = info.image;
  } else if (!image.empty()) {
    network.image = parse_image(image, info.inputs);
  } else {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(info.inputs))));
    if (side * side != info.inputs) {
      throw Error(ErrorCode::usage,
                  fmt::format("--image is required: rows of {} features are no square", info.inputs));
    }
    network.image = {side, side, 1};
  }
}

std::optional<LabelledRows> TrainCommand::test_rows(const DataInfo& training) const {
  if (test.empty()) return std::nullopt;
  DataOptions as_training = how;
  as_training.window.clear();
  as_training.labels = test_labels;
  const std::unique_ptr<RowSource> rows = open_data(test, as_training);
  check_same_columns(rows->info(), training);
  return read_labelled(*rows);
}

void TrainCommand::execute() {
  check_files({out, csv}, {data, how.labels, test, test_labels});
  TrainingOptions asked = asked_options();
  Run run;
  run.seed = seed;
  run.threads = threads;
  run.stop = stop_on_interrupt();
  const std::unique_ptr<RowSource> rows = open_data(data, how);
  const LabelledRows labelled = read_labelled(*rows, run.stop);
  describe_network(*rows, labelled, asked.network);
  const std::optional<LabelledRows> tested = test_rows(rows->info());
  std::optional<Manifold> manifold;
  if (asked.term != AlignmentTerm::none) {
    rows->rewind();
    const ComponentsFound found = principal_components(*rows, plane, run.stop);
    manifold.emplace(found.mean, found.directions);
  }
  Training training{.rows = &labelled,
                    .test = tested ? &*tested : nullptr,
                    .plane = manifold ? &*manifold : nullptr,
                    .epoch_done = {}};
  check_training(asked, training);
  check_folder(out);
  if (!csv.empty()) check_folder(csv);
  const std::uint64_t test_count = tested ? tested->rows() : 0;
  std::vector<TrainingEpoch> epochs;
  auto bar = std::make_unique<ProgressBar>(!quiet, std::vector<GammaRow>{});
  run.progress = [&bar](const Progress& progress) { bar->show(progress); };
  training.epoch_done = [&](const TrainingEpoch& epoch, const std::string& file) {
    write_file(out, file);
    epochs.push_back(epoch);
    if (!csv.empty()) write_file(csv, training_csv(epochs, test_count, kConfidence));
    if (quiet) return;
    bar.reset();  // its line ends
    fmt::print(stderr, "{}", epoch_text(epoch, asked, test_count));
    bar = std::make_unique<ProgressBar>(true, std::vector<GammaRow>{});
  };
  try {
    train_network(asked, training, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::interrupted) throw;
    throw Error(ErrorCode::interrupted,
                epochs.empty() ? "stopped before the first epoch ended; nothing was written"
                               : fmt::format("stopped after {}; {} is the network as it was then",
                                             counted(epochs.size(), "epoch"), out));
  }
  bar.reset();
  if (!quiet)
    fmt::print("{}{}: a network of {} inputs and {} classes\n",
               training_text(epochs, test_count, kConfidence), out, asked.network.inputs,
               asked.network.classes);
}

void add_data_options(CLI::App& app, TrainCommand& command) {
  const auto add = [&](const char* name, auto& value, const char* words) {
    return app.add_option(name, value, words)->group("Data");
  };
  app.add_option("DATA", command.data, "rows with labels: rows.csv, rows.npy, images-idx3-ubyte")->required();
  add("--label", command.how.label, "column with the number of the class, from 0");
  add("--labels", command.how.labels, "labels of such images: labels-idx1-ubyte");
  add("--columns", command.how.columns, "features, by name or number, in this order")->delimiter(',');
  add("--drop", command.how.drop, "columns to leave out")->delimiter(',');
  add("--window", command.how.window, "only rows FIRST..LAST, by number from 0, both included");
  CLI::Option* const test =
      add("--test", command.test, "rows that the network is tested on after every epoch")->type_name("DATA");
  add("--test-labels", command.test_labels, "their labels, of images")->type_name("FILE")->needs(test);
}

void add_network_options(CLI::App& app, TrainCommand& command) {
  NetworkShape& network = command.options.network;
  const auto add = [&](const char* name, auto& value, const char* words) {
    return app.add_option(name, value, words)->group("Network");
  };
  add("--hidden", network.hidden, "widths of the fully connected layers before the last, as 100,100 [none]")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  CLI::Option* const channels =
      add("--channels", network.channels,
          "of four convolutions of 5 × 5 and a pooling of 2 × 2 that come before them [no convolutions]")
          ->check(CLI::Range(1, 4096));
  add("--image", command.image, "shape of a row, for convolutions [a square]")
      ->type_name("HEIGHTxWIDTH[x3]")
      ->needs(channels);
}

void add_training_options(CLI::App& app, TrainCommand& command) {
  TrainingOptions& options = command.options;
  const auto above = finite_number("a number above 0", [](double value) { return value > 0; });
  const auto any = finite_number("a number", [](double) { return true; });
  const auto add = [&](const char* name, auto& value, const char* words) {
    return app.add_option(name, value, words)->group("Training");
  };
  add("--epochs", options.epochs, "times through all rows [21]")->check(CLI::Range(1, 1 << 20));
  add("--batch", options.batch, "rows a step [100]")->check(CLI::Range(1, 1 << 20));
  add("--rate", options.rate, "Adam's [0.001]")->check(above);
  add("--penalty", options.penalties,
      "λ of each fully connected layer, or one of all: λ Σw² / units is added to the loss [none]")
      ->delimiter(',')
      ->check(finite_number("0 or more", [](double value) { return value >= 0; }));
  CLI::Option* const moved =
      add("--adversarial", options.adversarial.epsilon,
          "learn from rows that are moved to where the loss is larger, every value by at most this, in the "
          "rows' units (of images 0 to 255) [rows as they are]")
          ->check(above);
  add("--adversarial-steps", options.adversarial.steps, "of such a move, from a random start [7]")
      ->check(CLI::Range(1, 1000))
      ->needs(moved);
  add("--lower", options.adversarial.lower, "no moved value gets below this [none]")
      ->check(any)
      ->needs(moved);
  add("--upper", options.adversarial.upper, "no moved value gets above this [none]")
      ->check(any)
      ->needs(moved);
  CLI::Option* const align =
      add("--align", command.align,
          "add how far the gradients by the inputs point out of the plane of the data: ratio (length of the "
          "gradient over that of its part in the plane), cosine (1 less its inverse) or rejection (length of "
          "the part across) [none]")
          ->check(CLI::IsMember({"none", "ratio", "cosine", "rejection"}));
  add("--alpha", options.alpha, "weight of that [1]")->check(above)->needs(align);
  add("--components", command.plane.components, "principal directions of the rows that make the plane [28]")
      ->check(CLI::Range(1, 4096))
      ->needs(align);
  app.add_flag("--by-label", command.plane.by_label, "so many components for the rows of every label")
      ->group("Training")
      ->needs(align);
}

}  // namespace

void add_train_command(CLI::App& program) {
  const auto command = std::make_shared<TrainCommand>();
  CLI::App& app = *program.add_subcommand("train", "Trains a network, writes it as TorchScript");
  add_data_options(app, *command);
  add_network_options(app, *command);
  add_training_options(app, *command);
  app.add_option("--device", command->options.device, "where: cpu, cuda or cuda:N [cpu]")->group("Run");
  app.add_option("--seed", command->seed, "start of all random draws [1]")
      ->check(CLI::NonNegativeNumber)
      ->group("Run");
  app.add_option("--threads", command->threads,
                 "threads; the network's last digits depend on their number [one per core]")
      ->check(CLI::Range(1, 1024))
      ->group("Run");
  app.add_option("--out", command->out, "the network, written after every epoch")
      ->required()
      ->type_name("NET.pt")
      ->group("Result");
  app.add_option("--csv", command->csv, "write losses and accuracies, a line an epoch")
      ->type_name("FILE")
      ->group("Result");
  app.add_flag("--quiet", command->quiet, "no progress, no result")->group("Result");
  app.footer(R"(Examples:
  harmonia train train-images-idx3-ubyte --labels train-labels-idx1-ubyte --hidden 100,100 --out net.pt
  harmonia train train.npy --label 784 --channels 8 --hidden 256 --epochs 6 --test test.npy --out c8.pt
  harmonia train train.npy --label 784 --hidden 200 --align ratio --components 28 --out aligned.pt
  harmonia train train.npy --label 784 --hidden 200 --adversarial 0.1 --lower 0 --upper 1 --out robust.pt

Layers are followed by ReLU, the last one's outputs are logits. Images' pixels are divided by 255 in the
network itself. Needs what 'make torch' builds.)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
