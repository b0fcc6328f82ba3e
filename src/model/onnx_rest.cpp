#include "onnx_rest.hpp"

#include <utility>

#include "dense_prepared.hpp"
#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

class OnnxRest final : public FirstLayer {
 public:
  OnnxRest(OnnxFirstLayer layer, OnnxCaller caller)
      : weights_(std::move(layer.weights)),
        bias_(std::move(layer.bias)),
        inputs_(layer.inputs),
        caller_(std::move(caller)),
        products_(dense_forward_for(best_simd())) {}

  std::size_t units() const override { return bias_.size(); }

  void project(MatrixView<const double> x, bool bias, MatrixView<double> out) const override {
    weights_.forward(products_, inputs_, bias_.size(), x.data, x.rows, out.data);
    for (std::size_t i = 0; bias && i < x.rows; ++i) {
      for (std::size_t u = 0; u < bias_.size(); ++u) out.row(i)[u] += bias_[u];
    }
  }

  void answer(RowsView units, MutableRowsView y) const override { caller_.evaluate(units, y); }

 private:
  DenseWeights weights_;
  std::vector<double> bias_;
  std::size_t inputs_;
  OnnxCaller caller_;
  const DenseForward& products_;
};

}  // namespace

std::unique_ptr<FirstLayer> open_onnx_first_layer(const std::string& bytes, const OnnxPlan& plan,
                                                  OnnxFirstLayer layer, const OnnxCaller& whole,
                                                  const std::string& file) {
  OnnxCaller caller{.session = nullptr,
                    .input = layer.value,
                    .output = whole.output,
                    .input_shape = {plan.shape.front(), static_cast<std::int64_t>(layer.units)},
                    .type = whole.type,
                    .answer_shape = whole.answer_shape,
                    .outputs = whole.outputs};
  try {
    caller.session = std::make_unique<OnnxSession>(onnx_rest(bytes, plan, layer, file), file);
  } catch (const Error&) {
    return nullptr;
  }
  const auto output = caller.session->output(caller.output);
  if (!output || output->kind != OnnxValue::Kind::tensor || output->type != caller.type) return nullptr;
  return std::make_unique<OnnxRest>(std::move(layer), std::move(caller));
}

}  // namespace harmonia
