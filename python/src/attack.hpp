#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// Adds what harmonia.attack needs to the module.
void bind_attack(nanobind::module_& m);

}  // namespace harmonia::python
