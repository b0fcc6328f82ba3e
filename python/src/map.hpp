#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// Adds the Gamma Map to the module.
void bind_map(nanobind::module_& m);

}  // namespace harmonia::python
