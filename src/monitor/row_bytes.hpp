#pragma once

#include <string>
#include <string_view>

#include "harmonia/monitor/window.hpp"

namespace harmonia {

/// A row as bytes, numbers in the order of bytes that the machine has: some thousand are stored a second.
std::string row_bytes(const KeptRow& row);
/// Of a row of so many values. Throws Error(input) for what row_bytes() did not write.
KeptRow read_row_bytes(std::string_view bytes, std::size_t values);

}  // namespace harmonia
