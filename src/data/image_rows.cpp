#include "image_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "column_choice.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {

void check_image_options(const std::string& source, const DataOptions& options) {
  const char* column = !options.columns.empty() ? "--columns"
                       : !options.drop.empty()  ? "--drop"
                       : !options.id.empty()    ? "--id"
                       : !options.label.empty() ? "--label"
                                                : nullptr;
  if (column != nullptr) {
    throw Error(ErrorCode::usage,
                fmt::format("{} names a column of a table; {} are images (--labels FILE has their labels)",
                            column, source));
  }
  if (!options.by.empty() && options.by != "label") {
    throw Error(ErrorCode::usage,
                fmt::format("--by {}; images have no columns: expected label", in_quotes(options.by)));
  }
}

void check_image_size(const std::string& source, const ImageShape& image) {
  if (image.values() <= kColumnLimit) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: images of {}×{}×{} make rows of {} columns; expected at most {} (a smaller "
                          "--size or description)",
                          source, image.height, image.width, image.channels, image.values(), kColumnLimit));
}

void write_image_row(const Image& image, const ImageShape& shape, const DataOptions& options, double* row) {
  if (image.shape == shape) {
    std::copy(image.values.begin(), image.values.end(), row);
    return;
  }
  const Image small = fitted(image, shape, options.fit, options.resize);
  std::copy(small.values.begin(), small.values.end(), row);
}

}  // namespace harmonia
