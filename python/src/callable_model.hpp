#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia::python {

/// What is known of a function before it is called.
struct CallableOptions {
  /// Where outputs are 0 it is asked once to learn how many it has, which sets example_rows too.
  ModelInfo info;
  std::vector<double> example;  ///< one row to ask
  /// Another function on the same batches, or none: it returns the answers, and a function that takes the
  /// derivative of each row's number by its outputs (rows × outputs, float64) and returns that by its inputs
  /// (rows × inputs).
  nanobind::object gradient = {};
};

/// A function of Python on batches: an array of rows × inputs in, rows or rows × outputs back. The GIL is
/// held while Python runs and no longer. What it raises goes through as it is. Call with the GIL held.
std::unique_ptr<Model> make_callable_model(nanobind::object function, CallableOptions options);

}  // namespace harmonia::python
