#pragma once

#include <string>

#include "harmonia/report/gate.hpp"

namespace harmonia {

/// The checks as JUnit XML, a test case each: what failed is a failure, what is inconclusive an error.
std::string junit_xml(const GateResult& result, const std::string& name);

}  // namespace harmonia
