#pragma once

#include <torch/script.h>

namespace harmonia {

/// A trace keeps in every convolution whether TF32 was allowed where it was made, and that counts for more
/// than libtorch's own setting. Afterwards none of the module's operations allows it. Before the first call.
void forbid_tf32(torch::jit::Module& module);

}  // namespace harmonia
