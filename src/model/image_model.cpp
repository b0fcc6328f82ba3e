#include "harmonia/model/image_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

// From pixel values to the model's input: a straight line a channel, and a place for each number.
class Preparation {
 public:
  explicit Preparation(const ImageDescription& d)
      : pixels_(d.shape.height * d.shape.width),
        channels_(d.shape.channels),
        model_channels_(d.model_channels),
        channels_first_(d.channels_first) {
    for (std::size_t c = 0; c < model_channels_; ++c) {
      const double deviation = d.deviation.empty() ? 1 : d.deviation[c];
      const double mean = d.mean.empty() ? 0 : d.mean[c];
      factor_[c] = static_cast<float>((d.range[1] - d.range[0]) / 255 / deviation);
      offset_[c] = static_cast<float>((d.range[0] - mean) / deviation);
      const std::size_t colour = d.reversed ? model_channels_ - 1 - c : c;
      source_[c] = channels_ == 1 ? 0 : colour;
    }
  }

  std::size_t outputs() const { return pixels_ * model_channels_; }

  // What replacing value j of an image replaces in the model's input: replace(place, value), once a channel
  // that the value goes to.
  template <class Replace>
  void each(std::size_t j, float value, const Replace& replace) const {
    const std::size_t pixel = j / channels_, channel = j % channels_;
    for (std::size_t c = 0; c < model_channels_; ++c) {
      if (source_[c] == channel)
        replace(channels_first_ ? c * pixels_ + pixel : pixel * model_channels_ + c,
                value * factor_[c] + offset_[c]);
    }
  }

  // The gradient by pixel values, from that by the model's input.
  void pull_back(const double* by_input, double* by_pixel) const {
    std::fill_n(by_pixel, pixels_ * channels_, 0.0);
    for (std::size_t c = 0; c < model_channels_; ++c) {
      const double* const from = channels_first_ ? by_input + c * pixels_ : by_input + c;
      const std::size_t step = channels_first_ ? 1 : model_channels_;
      double* const to = by_pixel + source_[c];
      for (std::size_t i = 0; i < pixels_; ++i)
        to[i * channels_] += from[i * step] * static_cast<double>(factor_[c]);
    }
  }

  template <class Out>
  void apply(const float* x, Out* out) const {
    for (std::size_t c = 0; c < model_channels_; ++c) {
      const float factor = factor_[c], offset = offset_[c];
      const float* const from = x + source_[c];
      Out* const to = channels_first_ ? out + c * pixels_ : out + c;
      const std::size_t step = channels_first_ ? 1 : model_channels_;
      if (channels_ == 1 && step == 1) {
        for (std::size_t i = 0; i < pixels_; ++i) to[i] = static_cast<Out>(from[i] * factor + offset);
      } else if (step == 1) {
        for (std::size_t i = 0; i < pixels_; ++i) to[i] = static_cast<Out>(from[3 * i] * factor + offset);
      } else {
        for (std::size_t i = 0; i < pixels_; ++i)
          to[i * step] = static_cast<Out>(from[i * channels_] * factor + offset);
      }
    }
  }

 private:
  std::size_t pixels_, channels_, model_channels_;
  bool channels_first_;
  std::array<float, 3> factor_{}, offset_{};
  std::array<std::size_t, 3> source_{};
};

class ImageModel final : public Model, public Differentiable {
 public:
  ImageModel(std::unique_ptr<Model> model, const ImageDescription& d, const std::string& path)
      : model_(std::move(model)), prepare_(d), info_(model_->info()) {
    check_shape(d, path);
    info_.inputs = d.shape.values();
    info_.scalar = Scalar::float32;
    info_.takes_missing = false;
    info_.row_shape = {d.shape.height, d.shape.width, d.shape.channels};
    info_.features.clear();
    if (model_->first_layer() != nullptr) info_.fast_path = "none: its rows are made of images";
    if (d.classes.empty()) return;
    if (d.classes.size() != info_.outputs) {
      throw Error(ErrorCode::input, fmt::format("{}: classes has {} names; model {} has {} outputs", path,
                                                d.classes.size(), info_.name, info_.outputs));
    }
    info_.classes = d.classes;
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    model_->evaluate(prepared(x.as<float>()), y);
  }

  bool makes_points() const override { return model_->makes_points(); }

  void evaluate_made(const PointsToMake& points, MutableRowsView y) const override {
    std::vector<std::size_t> first{0};
    std::vector<std::uint32_t> column;
    std::vector<double> value;
    for (std::size_t i = 0; i < points.points(); ++i) {
      for (std::size_t k = points.first[i]; k < points.first[i + 1]; ++k) {
        prepare_.each(points.column[k], static_cast<float>(points.value[k]), [&](std::size_t to, float as) {
          column.push_back(static_cast<std::uint32_t>(to));
          value.push_back(static_cast<double>(as));
        });
      }
      first.push_back(column.size());
    }
    model_->evaluate_made(
        {prepared(points.bases.as<float>()), points.base, first, column, value, points.centre, points.paired},
        y);
  }

  const Differentiable* differentiable() const override {
    return model_->differentiable() != nullptr ? this : nullptr;
  }

  void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                MutableRowsView gradients) const override {
    thread_local Matrix<double> by_input;
    by_input.resize(x.rows(), prepare_.outputs());
    model_->differentiable()->gradient(prepared(x.as<float>()), by_outputs, y, by_input.view());
    for (std::size_t i = 0; i < x.rows(); ++i) prepare_.pull_back(by_input.row(i), gradients.row(i));
  }

 private:
  void check_shape(const ImageDescription& d, const std::string& path) const {
    const std::vector<std::size_t> described = model_row_shape(d), &own = info_.row_shape;
    const bool fits = own.size() == 3 ? own == described : info_.inputs == prepare_.outputs();
    if (fits) return;
    const std::string taken =
        own.empty() ? fmt::format("{} numbers", info_.inputs) : fmt::format("{}", fmt::join(own, "×"));
    std::string hint;
    if (own.size() == 3 && (own[0] == 1 || own[0] == 3) == d.channels_first) {
      hint = " (another size or number of channels)";
    } else if (own.size() == 3) {
      hint = fmt::format(" (\"layout\": \"{}\" puts channels {})", d.channels_first ? "nhwc" : "nchw",
                         d.channels_first ? "last" : "first");
    }
    throw Error(ErrorCode::input, fmt::format("model {} takes images of {}; {} describes {}{}", info_.name,
                                              taken, path, fmt::join(described, "×"), hint));
  }

  // The rows as the model takes them, until the thread's next call.
  RowsView prepared(MatrixView<const float> x) const {
    return model_->info().scalar == Scalar::float32 ? prepared_as<float>(x) : prepared_as<double>(x);
  }

  template <class T>
  RowsView prepared_as(MatrixView<const float> x) const {
    thread_local std::vector<T> rows;
    const std::size_t inputs = prepare_.outputs();
    if (rows.size() < x.rows * inputs) rows.resize(x.rows * inputs);
    for (std::size_t i = 0; i < x.rows; ++i) prepare_.apply(x.row(i), rows.data() + i * inputs);
    return MatrixView<const T>{rows.data(), x.rows, inputs};
  }

  std::unique_ptr<Model> model_;
  Preparation prepare_;
  ModelInfo info_;
};

}  // namespace

std::vector<std::size_t> model_row_shape(const ImageDescription& d) {
  if (d.channels_first) return {d.model_channels, d.shape.height, d.shape.width};
  return {d.shape.height, d.shape.width, d.model_channels};
}

std::vector<double> model_row(const ImageDescription& d, std::span<const double> image) {
  const Preparation preparation(d);
  const std::vector<float> pixels(image.begin(), image.end());
  std::vector<double> row(preparation.outputs());
  preparation.apply(pixels.data(), row.data());
  return row;
}

std::unique_ptr<Model> make_image_model(std::unique_ptr<Model> model, const ImageDescription& d,
                                        const std::string& path) {
  return std::make_unique<ImageModel>(std::move(model), d, path);
}

bool measures_logits(const std::string& address, const ModelOptions& options, const ImageDescription& d) {
  std::error_code ignored;
  return options.margin ||
         (d.probabilities && options.output_name.empty() &&
          std::filesystem::is_regular_file(address, ignored) && has_margin(address, options));
}

std::unique_ptr<Model> open_image_model(const std::string& address, const ModelOptions& options,
                                        const ImageDescription& d, const std::string& path,
                                        std::span<const double> example) {
  ModelOptions inner = options;
  inner.row_shape = model_row_shape(d);
  inner.margin = measures_logits(address, options, d);
  const std::vector<double> row = example.empty() ? std::vector<double>() : model_row(d, example);
  return make_image_model(open_model(address, inner, row), d, path);
}

}  // namespace harmonia
