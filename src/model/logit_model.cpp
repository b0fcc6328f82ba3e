#include "harmonia/model/logit_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

constexpr double kRounding = 1e-6;  // that a probability may be out of [0, 1] by

class LogitModel final : public Model {
 public:
  LogitModel(const Model& model, bool probabilities, const std::vector<std::string>& classes)
      : model_(model), probabilities_(probabilities), info_(model.info()) {
    if (info_.outputs == 1 && !(probabilities && info_.binary)) {
      throw Error(ErrorCode::usage,
                  fmt::format("model {} has one output; expected a classifier with an output a class, or a "
                              "probability of class 1 (--binary --outputs probabilities)",
                              info_.name));
    }
    if (info_.outputs == 1) info_.outputs = 2;
    info_.binary = false;
    if (info_.classes.empty()) info_.classes = classes;
  }

  const ModelInfo& info() const override { return info_; }
  std::shared_ptr<void> batch_memory(std::size_t rows) const override { return model_.batch_memory(rows); }

  void evaluate(RowsView x, MutableRowsView y) const override {
    if (!probabilities_) return model_.evaluate(x, y);
    if (model_.info().outputs == info_.outputs) {
      model_.evaluate(x, y);
      for (std::size_t i = 0; i < y.rows * y.columns; ++i) y.data[i] = logarithm(y.data[i]);
      return;
    }
    std::vector<double> single(x.rows());
    model_.evaluate(x, {single.data(), single.size(), 1});
    for (std::size_t i = 0; i < single.size(); ++i) {
      y.row(i)[0] = logarithm(1 - single[i]);
      y.row(i)[1] = logarithm(single[i]);
    }
  }

 private:
  double logarithm(double p) const {
    if (!(p >= -kRounding && p <= 1 + kRounding)) {
      throw Error(ErrorCode::model, fmt::format("model {} answered {}; expected probabilities (logits are "
                                                "taken without --outputs probabilities)",
                                                info_.name, p));
    }
    return std::log(std::clamp(p, kLeastProbability, 1.0));
  }

  const Model& model_;
  bool probabilities_;
  ModelInfo info_;
};

}  // namespace

std::unique_ptr<Model> make_logit_model(const Model& model, bool probabilities,
                                        const std::vector<std::string>& classes) {
  return std::make_unique<LogitModel>(model, probabilities, classes);
}

}  // namespace harmonia
