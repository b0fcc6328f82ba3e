#pragma once

#include <string>

namespace harmonia {

/// The first bytes of a model file, to know its kind by; empty if there is no such file.
std::string model_file_head(const std::string& path);

/// All of a model file. Throws Error(usage) if there is none, or it cannot be read.
std::string read_model_file(const std::string& path);

}  // namespace harmonia
