#include "harmonia/report/attack_pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "harmonia/data/image.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kStripSteps = 6;
constexpr std::size_t kDigitHeight = 5, kDigitWidth = 3;

// Digits and a minus, three pixels wide and five high, a row of three bits after another.
constexpr std::array<std::uint16_t, 11> kDigits{0b111101101101111, 0b010110010010111, 0b111001111100111,
                                                0b111001111001111, 0b101101111001001, 0b111100111001111,
                                                0b111100111101111, 0b111001001001001, 0b111101111101111,
                                                0b111101111001111, 0b000000111000000};

struct Range {
  double black = 0, white = 255;
};

Range range_of(const AttackRow& row, const AttackOptions& options) {
  if (std::isfinite(options.lower) && std::isfinite(options.upper)) return {options.lower, options.upper};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : row.original) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low >= 0 && high > 1 && high <= 255) return {};
  return {low, high};
}

Image image_of(const std::vector<double>& values, const ImageShape& shape, const Range& range) {
  Image image{.shape = shape, .values = std::vector<float>(values.size())};
  const double scale = range.white > range.black ? 255 / (range.white - range.black) : 0;
  std::transform(values.begin(), values.end(), image.values.begin(), [&](double value) {
    return std::isnan(value) ? 0.0F
                             : static_cast<float>(std::clamp((value - range.black) * scale, 0.0, 255.0));
  });
  return image;
}

/// A sheet of paper that images are laid on.
class Sheet {
 public:
  Sheet(std::size_t height, std::size_t width, std::size_t channels)
      : image_{.shape = {height, width, channels},
               .values = std::vector<float>(height * width * channels, 255)} {}

  void lay(const Image& image, std::size_t top, std::size_t left, std::size_t zoom) {
    for (std::size_t y = 0; y < image.shape.height * zoom; ++y) {
      for (std::size_t x = 0; x < image.shape.width * zoom; ++x) {
        for (std::size_t c = 0; c < image.shape.channels; ++c) {
          at(top + y, left + x, c) =
              image.values[((y / zoom) * image.shape.width + x / zoom) * image.shape.channels + c];
        }
      }
    }
  }

  // Black digits; what does not fit is cut off.
  void write(const std::string& digits, std::size_t top, std::size_t left, std::size_t zoom) {
    for (const char digit : digits) {
      const std::uint16_t bits = kDigits[digit == '-' ? 10 : static_cast<std::size_t>(digit - '0')];
      for (std::size_t y = 0; y < kDigitHeight * zoom; ++y) {
        for (std::size_t x = 0; x < kDigitWidth * zoom; ++x) {
          const std::size_t bit = (y / zoom) * kDigitWidth + x / zoom;
          if ((bits >> (kDigitHeight * kDigitWidth - 1 - bit) & 1U) == 0U) continue;
          for (std::size_t c = 0; c < image_.shape.channels; ++c) at(top + y, left + x, c) = 0;
        }
      }
      left += (kDigitWidth + 1) * zoom;
    }
  }

  std::string png() const { return encode_png(image_); }

 private:
  float& at(std::size_t y, std::size_t x, std::size_t c) {
    if (y >= image_.shape.height || x >= image_.shape.width) return outside_;
    return image_.values[(y * image_.shape.width + x) * image_.shape.channels + c];
  }

  Image image_;
  float outside_ = 0;
};

}  // namespace

std::string attack_png(const AttackRow& row, const AttackOptions& options,
                       const std::vector<double>& values) {
  return encode_png(image_of(values, options.image, range_of(row, options)));
}

std::vector<std::size_t> strip_steps(const AttackRow& row, std::size_t count) {
  const std::size_t last = row.path.size();
  if (last < 2 || !row.path.front().feature) return {};
  std::vector<std::size_t> steps;
  for (std::size_t i = 1; i <= count; ++i) steps.push_back(std::max<std::size_t>(1, i * last / (count + 1)));
  if (row.success) steps.push_back(row.steps);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::erase(steps, last);
  return steps;
}

std::string strip_png(const AttackRow& row, const AttackOptions& options) {
  const ImageShape& shape = options.image;
  const Range range = range_of(row, options);
  std::vector<std::pair<std::vector<double>, long long>> images{{row.original, row.first_class}};
  for (const std::size_t step : strip_steps(row, kStripSteps))
    images.emplace_back(attacked_row(row, options, step), row.path[step - 1].label);
  images.emplace_back(row.adversarial, row.new_class);
  // Small images are enlarged, so that their classes can be read.
  const std::size_t zoom = std::max<std::size_t>(1, 96 / shape.width);
  const std::size_t digits = std::max<std::size_t>(2, shape.width * zoom / 24), gap = 4;
  const std::size_t width = shape.width * zoom, height = shape.height * zoom;
  Sheet sheet(height + kDigitHeight * digits + 3 * gap, images.size() * (width + gap) + gap, shape.channels);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t left = gap + i * (width + gap);
    sheet.lay(image_of(images[i].first, shape, range), gap, left, zoom);
    sheet.write(std::to_string(images[i].second), height + 2 * gap, left, digits);
  }
  return sheet.png();
}

}  // namespace harmonia
