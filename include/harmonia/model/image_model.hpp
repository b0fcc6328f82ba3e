#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harmonia/data/image_description.hpp"
#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// A model whose rows are images: rows of d.shape.values() numbers from 0 to 255, height × width × channels,
/// in float32. Each call repeats a grey image for a model of colours, brings 0 … 255 to the range, takes off
/// the mean, divides by the deviation and puts channels where the model wants them. `path` names the
/// description in messages. Throws Error(input) for a model of another size or order of channels than is
/// described.
std::unique_ptr<Model> make_image_model(std::unique_ptr<Model> model, const ImageDescription& d,
                                        const std::string& path);

/// The shape of an image as the described model takes it.
std::vector<std::size_t> model_row_shape(const ImageDescription& d);

/// An image of d.shape.values() numbers as the described model takes it.
std::vector<double> model_row(const ImageDescription& d, std::span<const double> image);

/// Opens the model at `address` and wraps it: sizes that a file leaves open are those of the description, and
/// of a file that gives probabilities what goes into its softmax is measured. `example` is an image, as
/// above, or empty.
std::unique_ptr<Model> open_image_model(const std::string& address, const ModelOptions& options,
                                        const ImageDescription& d, const std::string& path,
                                        std::span<const double> example);

/// Whether open_image_model() measures what goes into the model's softmax.
bool measures_logits(const std::string& address, const ModelOptions& options, const ImageDescription& d);

}  // namespace harmonia
