#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// Adds what harmonia.persistence needs to the module.
void bind_persistence(nanobind::module_& m);

}  // namespace harmonia::python
