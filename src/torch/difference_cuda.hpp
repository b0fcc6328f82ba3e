#pragma once

#include <string>

namespace harmonia {

/// The text of the functions that difference_kernels launches, in CUDA C++. Differences lie as D of all pairs, then S;
/// within an image or a list of tokens, channels are next to each other.
const std::string& difference_cuda();

}  // namespace harmonia
