#include "noise_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/statistics.hpp"
#include "harmonia/data/row_source.hpp"

namespace harmonia {
namespace {

Matrix<double> read_directions(const std::string& path, std::size_t inputs) {
  const auto file = open_data(path, {});
  const std::size_t width = file->info().inputs;
  if (width != inputs) {
    throw Error(ErrorCode::usage,
                fmt::format("--directions {} has {} columns; the data has {}", path, width, inputs));
  }
  std::vector<double> values;
  RowBlock block;
  while (file->read(block, rows_per_block(width))) {
    const double* first = block.values.row(0);
    values.insert(values.end(), first, first + block.values.rows() * width);
  }
  Matrix<double> directions(values.size() / width, width);
  std::copy(values.begin(), values.end(), directions.view().data);
  return directions;
}

}  // namespace

void add_noise_flags(CLI::App& command, NoiseFlags& flags) {
  command
      .add_option("--noise", flags.noise,
                  "gaussian (deviation sigma in every feature) or ball (uniform, of radius sigma), in units "
                  "of --scale [gaussian]")
      ->check(CLI::IsMember({"gaussian", "ball"}))
      ->group("Noise");
  command
      .add_option("--directions", flags.directions,
                  "CSV or NPY file whose rows are the directions to move along instead of the features, such "
                  "as principal directions times their deviations")
      ->type_name("FILE")
      ->group("Noise");
  command.add_option("--confidence", flags.confidence, "of every interval [0.95]")
      ->check(finite_number(fmt::format("a number between 0 and 1 - {}", kLeastDoubt), is_confidence))
      ->group("Measure");
  command
      .add_option("--batch", flags.batch,
                  "points held in memory at once, over all threads [chosen for the model]")
      ->check(CLI::Range(1, 1 << 30))
      ->group("Run");
}

NoiseOptions asked_noise(const NoiseFlags& flags, const Subject& subject) {
  NoiseOptions options;
  options.kind = parse_noise(flags.noise);
  options.schema = subject.schema;
  if (!flags.directions.empty())
    options.directions = read_directions(flags.directions, subject.data->info().inputs);
  return options;
}

}  // namespace harmonia
