#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace harmonia {

/// Memory that somebody owns, and that is given back in the end.
using WideMemory = std::unique_ptr<void, decltype(&std::free)>;

/// Memory of so many bytes that says nothing of what it holds. Nobody has touched it yet: the thread that
/// does first pays for its pages, which are large ones if it is large and the system gives them.
WideMemory wide_memory(std::size_t bytes);

}  // namespace harmonia
