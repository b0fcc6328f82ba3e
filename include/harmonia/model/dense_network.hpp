#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"
#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// What a layer makes of every unit's sum z.
struct DenseActivation {
  enum class Kind : std::uint8_t {
    identity,  ///< z
    leaky,     ///< z above 0, slope·z below: ReLU has slope 0
    clip,      ///< z, kept between low and high
    tanh,
    sigmoid,
  };
  Kind kind = Kind::identity;
  float slope = 0;
  float low = 0, high = 0;

  /// It is made of straight pieces.
  bool piecewise() const { return kind != Kind::tanh && kind != Kind::sigmoid; }
};

/// y = activation(weights · x + bias).
struct DenseLayer {
  std::size_t inputs = 0, outputs = 0;
  std::vector<float> weights;  ///< outputs × inputs
  std::vector<float> bias;     ///< one an output
  DenseActivation activation;
};

/// What is made of the last layer's sums, all of them together.
enum class DenseLink : std::uint8_t { identity, sigmoid, softmax };

/// A network of dense layers that computes in single precision. The last layer's activation is the identity;
/// what follows it is the link.
struct DenseNetwork {
  std::vector<DenseLayer> layers;
  DenseLink link = DenseLink::identity;

  std::size_t inputs() const { return layers.front().inputs; }
  std::size_t outputs() const { return layers.back().outputs; }
};

/// Throws Error(input) that names the model if sizes do not fit or a number is not finite.
void check_dense(const DenseNetwork& network, const std::string& name);

/// The dense network that an ONNX file is: Gemm or MatMul and Add, with ReLU, LeakyReLU, Clip, Tanh or
/// Sigmoid between them and a softmax or sigmoid at the end. What it asks of the graph is what
/// open_onnx_model() asks with the same options and example. Nothing if it is any other graph or no ONNX
/// file.
std::optional<DenseNetwork> read_onnx_dense(const std::string& bytes, const std::string& name,
                                            const ModelOptions& options = {},
                                            std::span<const double> example = {});

/// The network's answers, computed in double. x: rows × inputs. y: rows × outputs.
void evaluate_dense(const DenseNetwork& network, MatrixView<const double> x, MutableRowsView y);

}  // namespace harmonia
