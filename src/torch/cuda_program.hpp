#pragma once

#include <cstddef>
#include <string>

namespace harmonia {

/// How many blocks, and threads a block.
struct LaunchShape {
  unsigned blocks = 1, blocks_of_second_axis = 1, threads = 256;
};

/// Whether this was built for a libtorch with CUDA.
bool has_cuda_programs();

/// Runs a function of a text of CUDA C++ on the current GPU's current stream; the text, which has to stay where it
/// is, is compiled by the first call on each GPU. Throws std::runtime_error with the compiler's message. Safe to call from several threads.
void launch(const std::string& text, const char* function, LaunchShape shape, void** arguments);

}  // namespace harmonia
