#pragma once

#include <stop_token>

namespace harmonia {

/// Turns Ctrl-C (and a plain kill) into a request to stop; the second Ctrl-C ends the program at once.
std::stop_token stop_on_interrupt();

}  // namespace harmonia
