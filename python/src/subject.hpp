#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/data/image_description.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/model/open_model.hpp"

namespace harmonia::python {

/// A model as Python holds it.
struct PythonModel {
  std::shared_ptr<const Model> model;
  std::stop_source stop;                  ///< ends its waiting for answers
  bool callable = false;                  ///< evaluating it runs Python
  std::vector<std::string> classes = {};  ///< their names, where Python knows them and the model does not

  /// What is known of it.
  ModelInfo info() const;
};

/// Rows as Python holds them.
struct PythonData {
  std::shared_ptr<RowSource> data;
  std::shared_ptr<RowSource> whole;  ///< all rows, if data is one of them
  nanobind::object owner;            ///< of the memory that data looks at

  /// What spreads and distances are taken from: all rows, even if one is measured.
  RowSource& reference() const { return whole ? *whole : *data; }

  /// harmonia::scale_warning() of these, found once.
  const std::optional<std::string>& scale_warning() const;
  mutable std::optional<std::optional<std::string>> found_scale_warning = {};
};

/// Rows × features, in memory that Python owns.
using RowsArray =
    nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

/// Opens the model at an address, through the description of its images if there is one; `example` may be
/// empty if it says its own width.
PythonModel open_address(const std::string& address, ModelOptions options, const std::vector<double>& example,
                         const AskedImages& images);

/// Rows in an array, which is kept.
PythonData rows_in_memory(const RowsArray& rows, nanobind::object owner, std::vector<std::string> names,
                          std::vector<std::string> ids, std::vector<std::string> labels);

/// Rows of a file or a generator.
PythonData rows_of(const std::string& spec, const DataOptions& options);

/// The first row.
std::vector<double> first_row(PythonData& data);

/// All rows, as an array.
nanobind::object all_rows(PythonData& data);

}  // namespace harmonia::python
