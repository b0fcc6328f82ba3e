#include "harmonia/model/onnx_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "dense_path.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/random.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "model_file.hpp"
#include "onnx_rest.hpp"

namespace harmonia {
namespace {

constexpr std::int64_t kMostOutputs = std::int64_t{1} << 31;  // numbers a row

// Rows a call: enough that a call's own cost and the reading of the weights do not show, few enough that
// what lies between two layers stays in the cache.
constexpr std::size_t kBatchRows = 512;
constexpr std::size_t kBatchPixels = std::size_t{1} << 17U;  // and of images, this many values a call

Matrix<float> in_floats(const Matrix<double>& numbers) {
  Matrix<float> floats(numbers.rows(), numbers.columns());
  std::transform(numbers.row(0), numbers.row(0) + numbers.rows() * numbers.columns(), floats.row(0),
                 [](double number) { return static_cast<float>(number); });
  return floats;
}

class OnnxModel final : public Model {
 public:
  OnnxModel(const std::string& path, const ModelOptions& options, std::span<const double> example) {
    std::string bytes = read_model_file(path);
    const OnnxGraph graph = read_onnx_graph(bytes, path);
    plan_ = plan_onnx(graph, options, example, path);
    info_.name = path;
    info_.kind = "onnx";
    info_.sha256 = sha256_hex(bytes);
    info_.inputs = plan_.width;
    if (plan_.shape.size() > 2) info_.row_shape.assign(plan_.shape.begin() + 1, plan_.shape.end());
    info_.scalar = plan_.scalar;
    info_.takes_missing = plan_.takes_missing || options.takes_missing;
    caller_.input = plan_.input;
    caller_.output = plan_.output;
    caller_.input_shape = plan_.shape;
    caller_.session = std::make_unique<OnnxSession>(
        plan_.rewrite ? with_only_output(bytes, plan_.output, path) : bytes, path);
    read_output();
    set_batch();
    if (!tail_known()) ask_shape();
    std::int64_t outputs = 1;
    for (const std::int64_t dimension : caller_.answer_shape) {
      if (dimension > kMostOutputs / outputs) refuse_shape(caller_.answer_shape);
      outputs *= dimension;
    }
    info_.outputs = static_cast<std::size_t>(outputs);
    if (info_.outputs == 1) info_.binary = options.binary;
    if (plan_.classes.size() == info_.outputs) info_.classes = plan_.classes;
    caller_.outputs = info_.outputs;
    if (!options.fast_path) return;
    find_dense(bytes, options, example);
    find_first_layer(bytes, graph, example);
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override { caller_.evaluate(x, y); }

  const BallPath* ball_path() const override { return dense_ ? &*dense_ : nullptr; }

  const FirstLayer* first_layer() const override { return first_layer_.get(); }

 private:
  void find_dense(const std::string& bytes, const ModelOptions& options, std::span<const double> example) {
    auto network = read_onnx_dense(bytes, info_.name, options, example);
    if (!network || network->inputs() != info_.inputs || network->outputs() != info_.outputs) return;
    dense_.emplace(std::move(*network));
  }

  // Only where both ways give the same answers.
  void find_first_layer(const std::string& bytes, const OnnxGraph& graph, std::span<const double> example) {
    OnnxFirstLayerFound found = find_onnx_first_layer(graph, plan_);
    if (info_.takes_missing) found = {.layer = {}, .why = "it takes missing values"};
    if (found.layer) {
      first_layer_ = open_onnx_first_layer(bytes, plan_, std::move(*found.layer), caller_, info_.name);
      if (first_layer_ == nullptr) {
        found.why = "ONNX Runtime does not load what follows the first layer";
      } else if (!agrees(*first_layer_, example)) {
        first_layer_ = nullptr;
        found.why = "by its first layer it answers otherwise";
      }
    }
    info_.fast_path = first_layer_ != nullptr ? fmt::format("first layer of {} units", first_layer_->units())
                                              : "none: " + found.why;
  }

  // Whether the example and points around it are answered alike, but for rounding.
  bool agrees(const FirstLayer& layer, std::span<const double> example) const {
    constexpr std::size_t kPoints = 4;
    constexpr double kFloatRounding = 1e-4, kDoubleRounding = 1e-10;
    Matrix<double> x(kPoints, info_.inputs), units(kPoints, layer.units());
    for (std::size_t i = 0; i < kPoints; ++i) {
      std::vector<float> z(info_.inputs);
      normals({.seed = 1, .sample = i}, z);
      for (std::size_t j = 0; j < z.size(); ++j) {
        const double at = example.size() == z.size() && std::isfinite(example[j]) ? example[j] : 0;
        const double size = i == 0 ? 0 : 0.1 * (1 + std::abs(at));
        x.row(i)[j] = static_cast<double>(static_cast<float>(at + size * static_cast<double>(z[j])));
      }
    }
    layer.project(std::as_const(x).view(), true, units.view());
    Matrix<double> plain(kPoints, info_.outputs), shared(kPoints, info_.outputs);
    const bool floats = info_.scalar == Scalar::float32;
    try {
      if (floats) {
        const Matrix<float> narrow_x = in_floats(x), narrow_units = in_floats(units);
        evaluate(narrow_x.view(), plain.view());
        layer.answer(narrow_units.view(), shared.view());
      } else {
        evaluate(std::as_const(x).view(), plain.view());
        layer.answer(std::as_const(units).view(), shared.view());
      }
    } catch (const Error&) {
      return false;
    }
    const std::span<const double> a(plain.row(0), kPoints * info_.outputs),
        b(shared.row(0), kPoints * info_.outputs);
    double most = 0;
    for (const double answer : a) most = std::max(most, std::abs(answer));
    const double rounding = most * (floats ? kFloatRounding : kDoubleRounding);
    return std::equal(a.begin(), a.end(), b.begin(),
                      [&](double one, double other) { return std::abs(one - other) <= rounding; });
  }

  // Type and shape of the output, as far as the graph tells.
  void read_output() {
    const std::optional<OnnxValue> output = caller_.session->output(plan_.output);
    if (!output) {
      throw Error(ErrorCode::input,
                  fmt::format("model {} has lost its output {}", info_.name, in_quotes(plan_.output)));
    }
    if (output->kind != OnnxValue::Kind::tensor) {
      throw Error(ErrorCode::input, fmt::format("model {}: output {} is no tensor; expected one of numbers",
                                                info_.name, in_quotes(plan_.output)));
    }
    caller_.type = output->type;
    switch (caller_.type) {
      case OnnxType::float32:
      case OnnxType::float64:
      case OnnxType::int32:
      case OnnxType::int64:
      case OnnxType::boolean:
        break;
      default:
        throw Error(ErrorCode::input,
                    fmt::format("model {}: output {} holds {}; expected numbers", info_.name,
                                in_quotes(plan_.output), onnx_type_name(caller_.type)));
    }
    // A shape that is not known looks like that of a single number.
    const std::vector<std::int64_t>& shape = *output->dims;
    if (!shape.empty() && shape.front() > 0 && shape.front() != plan_.shape.front()) refuse_shape(shape);
    if (!shape.empty()) caller_.answer_shape.assign(shape.begin() + 1, shape.end());
    shape_known_ = !shape.empty();
  }

  [[noreturn]] void refuse_shape(const std::vector<std::int64_t>& shape) const {
    throw Error(ErrorCode::input,
                fmt::format("model {}: output {} has the shape [{}]; expected as many rows as the input has",
                            info_.name, in_quotes(plan_.output), fmt::join(shape, ", ")));
  }

  void set_batch() {
    const std::size_t fixed = caller_.fixed_batch();
    // What an image network has between two layers is many times its input.
    const std::size_t rows = plan_.shape.size() > 2
                                 ? std::clamp<std::size_t>(kBatchPixels / plan_.width, 1, kBatchRows)
                                 : kBatchRows;
    info_.preferred_batch = fixed == 0 ? rows : std::max<std::size_t>(1, rows / fixed) * fixed;
  }

  bool tail_known() const {
    return shape_known_ && std::all_of(caller_.answer_shape.begin(), caller_.answer_shape.end(),
                                       [](std::int64_t dim) { return dim > 0; });
  }

  // Runs a row of zeros, to see what comes back.
  void ask_shape() {
    const std::size_t rows = std::max<std::size_t>(1, caller_.fixed_batch());
    const std::vector<std::int64_t> shape = caller_.shape_of_zeros(rows, plan_.scalar);
    if (shape.empty() || shape.front() != static_cast<std::int64_t>(rows) ||
        std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      refuse_shape(shape);
    }
    caller_.answer_shape.assign(shape.begin() + 1, shape.end());
    info_.example_rows = rows;
  }

  ModelInfo info_;
  std::optional<DensePath> dense_;
  OnnxPlan plan_;
  OnnxCaller caller_;
  bool shape_known_ = false;
  std::unique_ptr<FirstLayer> first_layer_;
};

}  // namespace

std::unique_ptr<Model> open_onnx_model(const std::string& path, const ModelOptions& options,
                                       std::span<const double> example) {
  require_onnx_runtime("model " + path);
  return std::make_unique<OnnxModel>(path, options, example);
}

}  // namespace harmonia
