#pragma once

#include <array>
#include <vector>

#include "difference_rules.hpp"

/// Differences on a GPU, several operations at once, and products on its tensor cores. Each says whether it did it: not
/// elsewhere than on a GPU, in other than single precision, or with shapes that it does not know.
namespace harmonia::kernels {

/// Of a convolution.
struct Window {
  std::vector<std::int64_t> stride, padding, dilation;
};

/// How a product of the differences with these weights is best done. `weight` becomes what it then takes.
Factors factors_of(const torch::jit::Node& node, at::Tensor& weight);

bool activation(const Step& step, const Frame& frame, const Value& in, Value& out);
/// window: sizes, strides, paddings, dilations.
bool max_pool(const Step& step, const Frame& frame, const Value& in,
              const std::array<std::vector<std::int64_t>, 4>& window, Value& out);
bool layer_norm(const Step& step, const Frame& frame, const Value& in, const at::Tensor& weight, double epsilon,
                Value& out);
/// out.centre: the probabilities at the rows.
bool softmax(const Step& step, const Frame& frame, const Value& in, Value& out);
bool convolution(const Step& step, const Frame& frame, const Value& in, const Window& window, Value& out);
bool linear(const Step& step, const Frame& frame, const Value& in, Value& out);
/// The matrix product of two that vary.
bool products(const Frame& frame, const Value& left, const Value& right, Value& out);

}  // namespace harmonia::kernels
