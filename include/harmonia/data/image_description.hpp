#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/data/image.hpp"

namespace harmonia {

/// How images come to a model: the small file beside it.
struct ImageDescription {
  ImageShape shape;                ///< of the images as they are measured
  ImageFit fit = ImageFit::crop;   ///< how a file's image comes to this shape
  std::size_t resize = 0;          ///< shorter side before the middle is cut out; 0: as it just fits
  std::size_t model_channels = 0;  ///< channels of the model's input; a grey image is repeated to three
  bool channels_first =
      true;  ///< the model's input is channels × height × width, not height × width × channels
  bool reversed = false;                ///< blue comes first
  std::array<double, 2> range{0, 1};    ///< what 0 and 255 become, before mean and deviation
  std::vector<double> mean, deviation;  ///< one a channel of the model; empty: 0 and 1
  bool probabilities =
      false;  ///< the model ends in a softmax; what goes into it is measured where it can be had
  std::vector<std::string> classes;  ///< names of the outputs, if given
};

/// Reads a description: {"height": 224, "width": 224, "channels": "rgb", "layout": "nchw", "range": [0, 1],
/// "mean": […], "std": […], "fit": "crop", "resize": 256, "outputs": "logits", "classes": […] or "FILE"}.
/// Throws Error(input) that names the file and the entry for what it cannot be.
ImageDescription load_image_description(const std::string& path);

/// The same for a text that is at hand; messages call it `path`.
ImageDescription read_image_description(const std::string& text, const std::string& path);

/// The description beside a model: net.image.json of net.onnx, if there is one.
std::optional<std::string> description_beside(const std::string& model);

}  // namespace harmonia
