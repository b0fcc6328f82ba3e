#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// Adds what harmonia.text needs to the module.
void bind_text(nanobind::module_& m);

}  // namespace harmonia::python
