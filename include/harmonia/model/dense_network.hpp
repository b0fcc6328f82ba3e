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
    elu,         ///< z above 0, slope·(e^z − 1) below
    softplus,    ///< log(1 + e^z)
    silu,        ///< z·sigmoid(z)
    gelu,        ///< z·Φ(z), with the distribution function Φ of the normal distribution
    gelu_tanh,   ///< the same by its approximation with tanh
    hard_swish,  ///< z·clip(z/6 + 1/2, 0, 1)
  };
  Kind kind = Kind::identity;
  double slope = 0;
  double low = 0, high = 0;

  /// It is made of straight pieces.
  bool piecewise() const { return kind == Kind::identity || kind == Kind::leaky || kind == Kind::clip; }
};

/// y = activation(weights · x + bias).
struct DenseLayer {
  std::size_t inputs = 0, outputs = 0;
  std::vector<double> weights;  ///< outputs × inputs
  std::vector<double> bias;     ///< one an output
  DenseActivation activation;
};

/// What is made of the last layer's sums, all of them together.
enum class DenseLink : std::uint8_t { identity, sigmoid, softmax, log_softmax };

/// A network of dense layers. The last layer's activation is the identity; what follows it is the link.
struct DenseNetwork {
  std::vector<DenseLayer> layers;
  DenseLink link = DenseLink::identity;
  /// What the network that this stands for computes in, and what coordinates are cast to. Weights need not be
  /// floats even so: they may be products of some.
  Scalar scalar = Scalar::float32;

  std::size_t inputs() const { return layers.front().inputs; }
  std::size_t outputs() const { return layers.back().outputs; }
};

/// Throws Error(input) that names the model if sizes do not fit, or a number is not finite in single
/// precision.
void check_dense(const DenseNetwork& network, const std::string& name);

/// The dense network that an ONNX file is: Gemm or MatMul with Add, Sub, Mul, Div and BatchNormalization by
/// constants, activations between them, and a softmax or sigmoid at the end, of one class or of two; linear
/// models; scalers, choices and orders of columns before all that. What it asks of the graph is what
/// open_onnx_model() asks with the same options and example. Nothing if it is any other graph or no ONNX
/// file.
std::optional<DenseNetwork> read_onnx_dense(const std::string& bytes, const std::string& name,
                                            const ModelOptions& options = {},
                                            std::span<const double> example = {});

/// The network's answers, computed in double. x: rows × inputs. y: rows × outputs.
void evaluate_dense(const DenseNetwork& network, MatrixView<const double> x, MutableRowsView y);

}  // namespace harmonia
