#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/data/image.hpp"
#include "harmonia/data/schema.hpp"

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

/// Reads a description: {"height": 224, "width": 224, "channels": "rgb", "measure": "colour",
/// "layout": "nchw", "range": [0, 1], "mean": […], "std": […], "fit": "crop", "resize": 256,
/// "outputs": "logits", "classes": […] or "FILE"}. Height, width and channels ("rgb", "bgr" or "grey": what
/// the model takes) must be given; "measure": "grey" repeats a grey image for a model that takes colours.
/// Throws Error(input) that names the file and the entry for what it cannot be.
ImageDescription load_image_description(const std::string& path);

/// The same for a text that is at hand; messages call it `path`.
ImageDescription read_image_description(const std::string& text, const std::string& path);

/// The description beside a model: net.image.json of net.onnx, if there is one.
std::optional<std::string> description_beside(const std::string& model);

/// Images of more values than this are moved a pixel at a time unless another ball is asked for.
constexpr std::size_t kWholeBallValues = 1000;

/// What a user says of images besides the description.
struct ImageOptions {
  std::string description;  ///< its file; empty: the one beside the model, if there is one
  std::string size;         ///< HEIGHTxWIDTH that images are brought to; empty: as described
  bool grey = false;        ///< images are made grey

  bool empty() const { return description.empty() && size.empty() && !grey; }
};

/// How images are measured: as described, as asked where that says more.
struct AskedImages {
  std::optional<ImageDescription> description;  ///< none: rows go to the model as they are
  std::string path;                             ///< of the description
  ImageShape shape;                             ///< zeros: as the data has it
  ImageFit fit = ImageFit::crop;
  std::size_t resize = 0;
};

/// Reads the description that is asked for, or lies beside the model. Throws Error(usage) for a size that is
/// none.
AskedImages ask_images(const std::string& model, const ImageOptions& options);

/// Where a step that leaves 0 … 255 goes.
enum class PixelRange {
  free,       ///< on: the model's function goes on beyond, and every step is whole
  symmetric,  ///< nowhere: it is cut short, and its opposite alike
  reflect,    ///< back: it is mirrored at the bound
};

/// Reads free, symmetric, reflect.
PixelRange parse_pixel_range(const std::string& text);

/// The text that parse_pixel_range reads.
std::string pixel_range_name(PixelRange range);

/// Gives features of pixels their bounds; an empty schema becomes one of `inputs` features where it takes
/// one.
void bound_pixels(Schema& schema, std::size_t inputs, PixelRange range);

}  // namespace harmonia
