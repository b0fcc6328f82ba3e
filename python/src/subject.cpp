#include "subject.hpp"

#include <utility>

#include "arrays.hpp"
#include "harmonia/data/memory_source.hpp"
#include "harmonia/data/spread.hpp"
#include "harmonia/model/image_model.hpp"
#include "interrupt.hpp"

namespace nb = nanobind;

namespace harmonia::python {

ModelInfo PythonModel::info() const {
  ModelInfo info = model->info();
  if (!classes.empty()) info.classes = classes;
  return info;
}

PythonModel open_address(const std::string& address, ModelOptions options, const std::vector<double>& example,
                         const AskedImages& images) {
  PythonModel opened;
  options.stop = opened.stop.get_token();
  run_interruptibly(opened.stop, [&] {
    opened.model = images.description
                       ? open_image_model(address, options, *images.description, images.path, example)
                       : open_model(address, options, example);
  });
  return opened;
}

PythonData rows_in_memory(const RowsArray& rows, nb::object owner, std::vector<std::string> names,
                          std::vector<std::string> ids, std::vector<std::string> labels) {
  return {.data = make_memory_source({rows.data(), rows.shape(0), rows.shape(1)}, std::move(names),
                                     std::move(ids), std::move(labels)),
          .whole = nullptr,
          .owner = std::move(owner)};
}

PythonData rows_of(const std::string& spec, const DataOptions& options) {
  PythonData opened;
  run_interruptibly({}, [&] {
    opened.data = open_data(spec, options);
    if (spec.find('#') != std::string::npos) opened.whole = open_whole_data(spec, options);
  });
  return opened;
}

const std::optional<std::string>& PythonData::scale_warning() const {
  if (!found_scale_warning) found_scale_warning = harmonia::scale_warning(reference());
  return *found_scale_warning;
}

std::vector<double> first_row(PythonData& data) {
  RowBlock block;
  data.data->read(block, 1);
  data.data->rewind();
  return {block.values.row(0), block.values.row(0) + block.values.columns()};
}

nb::object all_rows(PythonData& data) {
  std::vector<double> values;
  RowBlock block;
  data.data->rewind();
  std::size_t rows = 0;
  while (data.data->read(block, rows_per_block(data.data->info().inputs))) {
    const auto view = block.values.view();
    values.insert(values.end(), view.data, view.data + view.rows * view.columns);
    rows += view.rows;
  }
  data.data->rewind();
  return numpy_array(std::move(values), rows);
}

}  // namespace harmonia::python
