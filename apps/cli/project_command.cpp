#include "project_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "harmonia/core/atomic_file.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/data/labelled_rows.hpp"
#include "harmonia/data/manifold.hpp"
#include "harmonia/data/npy_writer.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace harmonia {
namespace {

struct ProjectCommand {
  std::string data, plane, plane_labels, out;
  DataOptions how;
  ManifoldOptions manifold;
  bool quiet = false;

  void execute() const;
  ComponentsFound components(const DataInfo& rows, const std::stop_token& stop) const;
};

ComponentsFound ProjectCommand::components(const DataInfo& rows, const std::stop_token& stop) const {
  DataOptions of_plane = how;
  if (!plane.empty()) of_plane.labels = plane_labels;
  of_plane.window.clear();
  const std::unique_ptr<RowSource> fitted = open_data(plane.empty() ? data : plane, of_plane);
  check_same_columns(fitted->info(), rows);
  return principal_components(*fitted, manifold, stop);
}

// Rows as they lie in the plane, each followed by the number of its class if it has a label.
void ProjectCommand::execute() const {
  check_files({out}, {data, how.labels, plane, plane_labels});
  const std::stop_token stop = stop_on_interrupt();
  const std::unique_ptr<RowSource> rows = open_data(data, how);
  const ComponentsFound found = components(rows->info(), stop);
  const Manifold to(found.mean, found.directions);
  const std::size_t inputs = rows->info().inputs;
  if (to.inputs() != inputs) {
    throw Error(ErrorCode::input,
                fmt::format("{} has {} columns; {} has {}", data, inputs, plane, to.inputs()));
  }
  const bool labelled = !how.label.empty() || !how.labels.empty();
  NpyWriter<float> file(inputs + (labelled ? 1 : 0));
  AtomicFile placed(out);
  std::vector<double> row(inputs);
  std::size_t count = 0;
  RowBlock block;
  while (rows->read(block, rows_per_block(inputs))) {
    if (stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped; nothing was written");
    for (std::size_t i = 0; i < block.values.rows(); ++i, ++count) {
      for (std::size_t j = 0; j < inputs; ++j)
        single_precision(block.values.row(i)[j], block.number(i), j, rows->info());  // throws if it is none
      to.project_row({block.values.row(i), inputs}, row);
      for (std::size_t j = 0; j < inputs; ++j)
        file.add(single_precision(row[j], block.number(i), j, rows->info()));
      if (labelled) file.add(static_cast<float>(class_number(block.labels[i], block.number(i), data)));
    }
  }
  placed.write(file.bytes());
  placed.commit();
  if (quiet) return;
  fmt::print("{}: {} in a plane of {}, which keeps {:.3g} % of the variance{}\n", out, counted(count, "row"),
             counted(to.dimensions(), "dimension"), 100 * found.explained,
             labelled ? fmt::format("; column {} is the label", inputs) : "");
}

}  // namespace

void add_project_command(CLI::App& program) {
  const auto command = std::make_shared<ProjectCommand>();
  CLI::App& app =
      *program.add_subcommand("project", "Moves rows into the plane of their principal components");
  const auto add = [&](const char* name, auto& value, const char* words) {
    return app.add_option(name, value, words)->group("Data");
  };
  app.add_option("DATA", command->data, "rows.csv, rows.npy, images-idx3-ubyte")->required();
  add("--label", command->how.label, "column with the number of the class, kept as the last column");
  add("--labels", command->how.labels, "labels of such images, labels-idx1-ubyte: kept as the last column");
  add("--columns", command->how.columns, "features, by name or number, in this order")->delimiter(',');
  add("--drop", command->how.drop, "columns to leave out")->delimiter(',');
  add("--window", command->how.window, "only rows FIRST..LAST, by number from 0, both included");
  CLI::Option* const plane =
      add("--manifold", command->plane, "rows that the plane is fitted to, such as the training data [DATA]")
          ->type_name("DATA");
  add("--manifold-labels", command->plane_labels, "their labels, of images")->type_name("FILE")->needs(plane);
  add("--components", command->manifold.components, "principal directions that make the plane [28]")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--by-label", command->manifold.by_label, "so many components for the rows of every label")
      ->group("Data");
  app.add_option("--out", command->out, "the rows in single precision")
      ->required()
      ->type_name("ROWS.npy")
      ->group("Result");
  app.add_flag("--quiet", command->quiet, "no result")->group("Result");
  app.footer(R"(Examples:
  harmonia project train.npy --label 784 --components 28 --out flat-train.npy
  harmonia project test.npy --label 784 --manifold train.npy --components 28 --out flat-test.npy)");
  app.callback([command] { command->execute(); });
}

}  // namespace harmonia
