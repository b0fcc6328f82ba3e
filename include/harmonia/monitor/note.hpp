#pragma once

#include <functional>
#include <string>

namespace harmonia {

/// Is told, in a sentence, what a user should know at once: what may be lost, what is waited for. May be
/// empty; called from the thread that found out.
using Note = std::function<void(const std::string&)>;

}  // namespace harmonia
