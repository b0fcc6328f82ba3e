#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// Opens an ONNX file and runs it with ONNX Runtime's processor back end: one input of floats or doubles,
/// rows × features, or rows × the parts of an image, whose rows are flattened. The threads are the caller's:
/// a call runs on the thread that makes it.
///
/// The output is the one that options.output_name names, be it one of the graph's outputs or a value inside
/// it; else the first that holds real numbers, which of a classifier are the probabilities and not the label.
/// A ZipMap's table of probabilities is read as columns in the order of its classes. With options.margin and
/// no name it is what goes into the softmax or sigmoid that the output comes from.
///
/// A file of a fixed batch is called with that many rows, the last call filled up with copies of its last
/// row. `example` is needed only where the file does not say how wide a row is.
///
/// Throws Error(input) for a file that cannot be used, Error(usage) for an output that it does not have.
std::unique_ptr<Model> open_onnx_model(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example);

/// Opens an ONNX file that read_onnx_trees() reads, evaluated without ONNX Runtime; with options.output_name
/// it is open_onnx_model(). Throws Error(input) for any other file.
std::unique_ptr<Model> open_onnx_trees(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example);

/// Whether open_onnx_trees() can open the file.
bool is_onnx_trees_file(const std::string& path);

/// Whether the file leaves the width of a row to the data.
bool onnx_needs_example(const std::string& path);

}  // namespace harmonia
