#include "onnx_affine.hpp"

#include <algorithm>
#include <cmath>

namespace harmonia {
namespace {

// A constant's numbers as a row of that shape has them; one alone stands for all.
std::optional<std::vector<double>> row_of(const OnnxTensor& tensor, const std::vector<std::int64_t>& shape) {
  auto numbers = tensor_numbers(tensor);
  if (!numbers || numbers->size() <= 1) return numbers;
  const std::size_t rank = std::max<std::size_t>(shape.size(), 1);
  // What is the same for all rows leads, as 1.
  std::vector<std::int64_t> dims = tensor.dims;
  if (dims.size() > rank + 1 || (dims.size() == rank + 1 && dims.front() != 1)) return std::nullopt;
  if (dims.size() == rank + 1) dims.erase(dims.begin());
  if (shape.empty()) return numbers;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  std::size_t size = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (dims[i] != 1 && dims[i] != shape[i]) return std::nullopt;
    size *= static_cast<std::size_t>(shape[i]);
  }
  std::vector<double> row(size);
  for (std::size_t at = 0; at < size; ++at) {
    std::size_t rest = at, from = 0, stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
      const auto side = static_cast<std::size_t>(shape[i]);
      if (dims[i] != 1) from += stride * (rest % side);
      stride *= static_cast<std::size_t>(dims[i]);
      rest /= side;
    }
    row[at] = (*numbers)[from];
  }
  return row;
}

OnnxAffine scaled(std::vector<double> scale) { return {std::move(scale), {0}}; }
OnnxAffine shifted(std::vector<double> shift) { return {{1}, std::move(shift)}; }

template <class Change>
std::vector<double> each(std::vector<double> values, const Change& change) {
  for (double& value : values) value = change(value);
  return values;
}

std::optional<OnnxAffineNode> by_constant(const OnnxConstants& constants, const OnnxNode& node,
                                          const std::vector<std::int64_t>& shape) {
  const std::string_view operation = node.operation;
  if (node.inputs.size() != 2 ||
      (operation != "Add" && operation != "Sub" && operation != "Mul" && operation != "Div"))
    return std::nullopt;
  const std::size_t which = constants.find(node.inputs[1]) != nullptr ? 1 : 0;
  const OnnxTensor* const tensor = constants.find(node.inputs[which]);
  if (tensor == nullptr) return std::nullopt;
  auto numbers = row_of(*tensor, shape);
  if (!numbers || numbers->empty()) return std::nullopt;
  OnnxAffineNode answer{node.inputs[1 - which], {}, tensor->type};
  if (operation == "Add") {
    answer.affine = shifted(std::move(*numbers));
  } else if (operation == "Mul") {
    answer.affine = scaled(std::move(*numbers));
  } else if (operation == "Sub" && which == 1) {
    answer.affine = shifted(each(std::move(*numbers), [](double value) { return -value; }));
  } else if (operation == "Sub") {
    answer.affine = {{-1}, std::move(*numbers)};
  } else if (which == 1) {
    answer.affine = scaled(each(std::move(*numbers), [](double value) { return 1 / value; }));
  } else {
    return std::nullopt;  // a constant divided by the value
  }
  return answer;
}

// Of flat rows; what is known of rows of a batch while it trains is not.
std::optional<OnnxAffineNode> batch_normalization(const OnnxConstants& constants, const OnnxNode& node) {
  if (node.inputs.size() != 5 || node.attribute("training_mode").integer.value_or(0) != 0)
    return std::nullopt;
  const OnnxTensor* const first = constants.find(node.inputs[1]);
  const auto scale = constants.numbers(node.inputs[1]), shift = constants.numbers(node.inputs[2]),
             mean = constants.numbers(node.inputs[3]), variance = constants.numbers(node.inputs[4]);
  if (!scale || !shift || !mean || !variance || scale->empty() || shift->size() != scale->size() ||
      mean->size() != scale->size() || variance->size() != scale->size())
    return std::nullopt;
  const double epsilon = node.attribute("epsilon").real.value_or(static_cast<double>(1e-5F));
  OnnxAffineNode answer{node.inputs.front(), {*scale, *shift}, first->type};
  for (std::size_t i = 0; i < scale->size(); ++i) {
    answer.affine.scale[i] /= std::sqrt((*variance)[i] + epsilon);
    answer.affine.shift[i] -= answer.affine.scale[i] * (*mean)[i];
  }
  return answer;
}

// ai.onnx.ml's (v − offset) · scale.
std::optional<OnnxAffineNode> scaler(const OnnxNode& node) {
  std::vector<double> scale = node.attribute("scale").reals, offset = node.attribute("offset").reals;
  if (node.inputs.size() != 1 || scale.empty() || offset.empty()) return std::nullopt;
  OnnxAffine affine = scaled(std::move(scale));
  if (!affine.after(shifted(each(std::move(offset), [](double value) { return -value; }))))
    return std::nullopt;
  return OnnxAffineNode{node.inputs.front(), std::move(affine), OnnxType::float32};
}

}  // namespace

bool OnnxAffine::after(const OnnxAffine& inner) {
  const std::size_t most = std::max(width(), inner.width());
  for (const std::size_t size : {scale.size(), shift.size(), inner.scale.size(), inner.shift.size()}) {
    if (size != 1 && size != most) return false;
  }
  std::vector<double> scales(most), shifts(most);
  for (std::size_t i = 0; i < most; ++i) {
    scales[i] = scale_at(i) * inner.scale_at(i);
    shifts[i] = scale_at(i) * inner.shift_at(i) + shift_at(i);
  }
  scale = std::move(scales);
  shift = std::move(shifts);
  return true;
}

std::optional<OnnxAffineNode> onnx_affine(const OnnxConstants& constants, const OnnxNode& node,
                                          const std::vector<std::int64_t>& shape) {
  const bool flat = shape.size() <= 1;
  if (node.machine_learning()) return node.operation == "Scaler" && flat ? scaler(node) : std::nullopt;
  if (!onnx_own(node)) return std::nullopt;
  if (node.operation == "BatchNormalization")
    return flat ? batch_normalization(constants, node) : std::nullopt;
  return by_constant(constants, node, shape);
}

}  // namespace harmonia
