#pragma once

#include <nanobind/nanobind.h>

namespace harmonia::python {

/// The function alignment and its result.
void bind_alignment(nanobind::module_& m);

}  // namespace harmonia::python
