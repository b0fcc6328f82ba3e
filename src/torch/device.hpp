#pragma once

#include <c10/core/Device.h>

#include <exception>
#include <string>

namespace harmonia {

/// The device that --device names: cpu, cuda or cuda:N. Throws Error(usage) for another, and for a GPU that
/// is not there.
c10::Device device_named(const std::string& name);

/// By default a GPU multiplies with ten bits of each factor, which differences of near points do not survive:
/// from now on it takes all of them.
void compute_in_full();

/// The sentence of an error that matters: libtorch puts places in its own source and in the module's around
/// it.
std::string reason(const std::exception& error);

}  // namespace harmonia
