#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia::python {

/// What is known of a function before it is called.
struct CallableOptions {
  ModelInfo info;               ///< all but the outputs; example_rows is set here
  std::vector<double> example;  ///< one row, which it is asked once to learn how many outputs it has
};

/// A function of Python on batches: an array of rows × inputs in, rows or rows × outputs back. The GIL is
/// held while it runs and no longer. What it raises goes through as it is. Call with the GIL held.
std::unique_ptr<Model> make_callable_model(nanobind::object function, CallableOptions options);

}  // namespace harmonia::python
