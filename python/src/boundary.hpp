#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// Adds what harmonia.boundary needs to the module.
void bind_boundary(nanobind::module_& m);

}  // namespace harmonia::python
