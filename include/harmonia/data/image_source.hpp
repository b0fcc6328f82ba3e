#pragma once

#include <memory>
#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// Whether open_data() gives images for it: a folder, an image file, an IDX file.
bool is_image_data(const std::string& spec);

/// The images of a folder, one a row, as options.image, fit and resize say; each is read when its row is.
/// They are the PNG and JPEG files in it or, if it has none, those in its sub-folders, whose names are the
/// rows' labels; in the order of their paths, which are the rows' ids. A labels file is a table of
/// `file,label`, with one line for every image. Throws Error(input) for a folder without images, a sub-folder
/// without images, and labels of other files than there are; Error(usage) if options.image has no size.
std::unique_ptr<RowSource> open_image_folder(const std::string& path, const DataOptions& options);

/// The same for one image file.
std::unique_ptr<RowSource> open_image_file(const std::string& path, const DataOptions& options);

/// The images of an IDX file of bytes in three dimensions, as MNIST has them [LeCun, Cortes & Burges]; a
/// labels file is one of bytes in one dimension. Of their own size unless options.image has one.
std::unique_ptr<RowSource> open_idx(const std::string& path, const DataOptions& options);

}  // namespace harmonia
