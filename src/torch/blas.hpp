#pragma once

#include <string>

namespace harmonia {

/// Throws Error(usage), naming `who`, if libtorch's matrix products are those of the reference BLAS, which
/// is up to a hundred times slower than any other.
void require_fast_blas(const std::string& who);

}  // namespace harmonia
