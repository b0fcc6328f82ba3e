#pragma once

#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Throws Error(usage) for options that choose columns of a table. `--by label` is for images, too.
void check_image_options(const std::string& source, const DataOptions& options);

/// Throws Error(usage) for images that would make rows of more columns than data may have.
void check_image_size(const std::string& source, const ImageShape& image);

/// Writes the image to a row, brought to the shape.
void write_image_row(const Image& image, const ImageShape& shape, const DataOptions& options, double* row);

}  // namespace harmonia
