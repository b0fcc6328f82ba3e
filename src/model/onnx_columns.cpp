#include "onnx_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace harmonia {
namespace {

class ColumnReader {
 public:
  ColumnReader(const OnnxGraph& graph, const OnnxPlan& plan, const OnnxConstants& constants)
      : graph_(graph), plan_(plan), constants_(constants) {}

  std::optional<OnnxColumns> read(std::string_view value) {
    if (value == plan_.input) return features();
    // So many values are looked at, at most: a damaged graph may go round in a circle.
    const OnnxNode* const node = graph_.maker(value);
    if (node == nullptr || node->inputs.empty() || node->outputs.front() != value || steps_ == 0)
      return std::nullopt;
    --steps_;
    if (node->machine_learning() && node->operation == "ArrayFeatureExtractor") return chosen(*node);
    if (node->machine_learning() && node->operation == "Imputer") return imputed(*node);
    if (onnx_own(*node)) {
      const std::string_view operation = node->operation;
      if (operation == "Identity") return read(node->inputs.front());
      if (operation == "Cast") return cast(*node);
      if (operation == "Flatten" || operation == "Reshape") return reshaped(*node);
      if (operation == "Transpose") return transposed(*node);
      if (operation == "Gather") return chosen(*node);
      if (operation == "Concat") return joined(*node);
    }
    return changed(*node);
  }

 private:
  OnnxColumns features() const {
    OnnxColumns all;
    all.columns.resize(plan_.width);
    for (std::size_t j = 0; j < plan_.width; ++j) all.columns[j].feature = j;
    all.shape.assign(plan_.shape.begin() + 1, plan_.shape.end());
    all.type = plan_.scalar == Scalar::float32 ? OnnxType::float32 : OnnxType::float64;
    return all;
  }

  // A cast to float of what is a feature: it is done to coordinates. Others would be done to a product.
  std::optional<OnnxColumns> cast(const OnnxNode& node) {
    auto all = read(node.inputs.front());
    const auto to = static_cast<OnnxType>(node.attribute("to").integer.value_or(0));
    if (!all || all->type == to) return all;
    const auto plain = [](const OnnxColumn& column) { return column.scale == 1 && column.shift == 0; };
    if (to != OnnxType::float32 || !std::all_of(all->columns.begin(), all->columns.end(), plain))
      return std::nullopt;
    all->type = to;
    return all;
  }

  std::optional<OnnxColumns> reshaped(const OnnxNode& node) {
    auto all = read(node.inputs.front());
    if (!all) return std::nullopt;
    const auto size = static_cast<std::int64_t>(all->columns.size());
    if (node.operation == "Flatten") {
      if (node.attribute("axis").integer.value_or(1) != 1) return std::nullopt;
      all->shape = {size};
      return all;
    }
    const auto to = node.inputs.size() == 2 ? constants_.numbers(node.inputs[1]) : std::nullopt;
    if (!to || to->size() < 2 || node.attribute("allowzero").integer.value_or(0) != 0) return std::nullopt;
    return onnx_keeps_rows(*to, plan_.shape.front()) && fit(*to, *all) ? all : std::nullopt;
  }

  // Gives rows the shape that follows the first number; one −1 is what is left.
  static bool fit(const std::vector<double>& to, OnnxColumns& all) {
    const auto size = static_cast<double>(all.columns.size());
    std::vector<std::int64_t> shape;
    double known = 1;
    for (std::size_t i = 1; i < to.size(); ++i) {
      const double side = to[i] != 0              ? to[i]
                          : i <= all.shape.size() ? static_cast<double>(all.shape[i - 1])
                                                  : 0;
      if (side < -1 || side == 0 || side > size) return false;
      shape.push_back(static_cast<std::int64_t>(side));
      if (side > 0) known *= side;
      if (known > size) return false;
    }
    const auto open = std::count(shape.begin(), shape.end(), -1);
    if (open > 1 || std::fmod(size, known) != 0 || (open == 0 && known != size)) return false;
    std::replace(shape.begin(), shape.end(), std::int64_t{-1}, static_cast<std::int64_t>(size / known));
    all.shape = std::move(shape);
    return true;
  }

  std::optional<OnnxColumns> transposed(const OnnxNode& node) {
    const auto all = read(node.inputs.front());
    const std::vector<std::int64_t>& order = node.attribute("perm").integers;
    if (!all || order.size() != all->shape.size() + 1 || order.front() != 0) return std::nullopt;
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<std::int64_t>(i)) return std::nullopt;
    }
    const std::size_t rank = all->shape.size();
    std::vector<std::size_t> strides(rank, 1);  // of what goes in
    for (std::size_t i = rank; i-- > 1;)
      strides[i - 1] = strides[i] * static_cast<std::size_t>(all->shape[i]);
    OnnxColumns out{std::vector<OnnxColumn>(all->columns.size()), {}, all->type};
    for (std::size_t i = 0; i < rank; ++i)
      out.shape.push_back(all->shape[static_cast<std::size_t>(order[i + 1] - 1)]);
    for (std::size_t at = 0; at < out.columns.size(); ++at) {
      std::size_t rest = at, from = 0;
      for (std::size_t i = rank; i-- > 0;) {
        const auto side = static_cast<std::size_t>(out.shape[i]);
        from += strides[static_cast<std::size_t>(order[i + 1] - 1)] * (rest % side);
        rest /= side;
      }
      out.columns[at] = all->columns[from];
    }
    return out;
  }

  // Columns by their numbers, of flat rows.
  std::optional<OnnxColumns> chosen(const OnnxNode& node) {
    if (node.inputs.size() != 2) return std::nullopt;
    const auto all = read(node.inputs.front());
    const OnnxTensor* const tensor = constants_.find(node.inputs[1]);
    if (!all || all->shape.size() != 1 || tensor == nullptr) return std::nullopt;
    const bool extracts = node.machine_learning();
    const std::int64_t axis = node.attribute("axis").integer.value_or(0);
    if (!extracts && ((axis != 1 && axis != -1) || tensor->dims.size() != 1)) return std::nullopt;
    const auto numbers = tensor_numbers(*tensor);
    if (!numbers || numbers->empty()) return std::nullopt;
    OnnxColumns out{{}, {static_cast<std::int64_t>(numbers->size())}, all->type};
    const auto width = static_cast<double>(all->columns.size());
    for (const double number : *numbers) {
      const double from = number < 0 && !extracts ? number + width : number;
      if (!(from >= 0 && from < width)) return std::nullopt;
      out.columns.push_back(all->columns[static_cast<std::size_t>(from)]);
    }
    return out;
  }

  std::optional<OnnxColumns> joined(const OnnxNode& node) {
    const std::int64_t axis = node.attribute("axis").integer.value_or(0);
    if (axis != 1 && axis != -1) return std::nullopt;
    OnnxColumns out;
    for (const std::string_view input : node.inputs) {
      const auto part = read(input);
      if (!part || part->shape.size() != 1 || (!out.columns.empty() && part->type != out.type))
        return std::nullopt;
      out.type = part->type;
      out.columns.insert(out.columns.end(), part->columns.begin(), part->columns.end());
      if (out.columns.size() > kMostJoined) return std::nullopt;
    }
    out.shape = {static_cast<std::int64_t>(out.columns.size())};
    return out;
  }

  // Of a row that has no missing value, the row.
  std::optional<OnnxColumns> imputed(const OnnxNode& node) {
    const auto& replaced = node.attribute("replaced_value_float").real;
    return replaced && std::isnan(*replaced) ? read(node.inputs.front()) : std::nullopt;
  }

  std::optional<OnnxColumns> changed(const OnnxNode& node) {
    const auto found = [&]() -> std::optional<OnnxColumns> {
      for (const std::string_view input : node.inputs) {
        if (constants_.find(input) == nullptr) return read(input);
      }
      return std::nullopt;
    };
    auto all = found();
    if (!all) return std::nullopt;
    const auto affine = onnx_affine(constants_, node, all->shape);
    if (!affine || affine->type != all->type) return std::nullopt;
    const std::size_t width = affine->affine.width();
    if (width != 1 && width != all->columns.size()) return std::nullopt;
    for (std::size_t i = 0; i < all->columns.size(); ++i) {
      OnnxColumn& column = all->columns[i];
      column.scale *= affine->affine.scale_at(i);
      column.shift = affine->affine.scale_at(i) * column.shift + affine->affine.shift_at(i);
    }
    return all;
  }

  static constexpr std::size_t kMostJoined = std::size_t{1} << 22U;

  const OnnxGraph& graph_;
  const OnnxPlan& plan_;
  const OnnxConstants& constants_;
  std::size_t steps_ = 4096;
};

}  // namespace

bool onnx_keeps_rows(const std::vector<double>& shape, std::int64_t batch) {
  if (shape.empty()) return false;
  if (shape.front() == 0 || (batch > 0 && shape.front() == static_cast<double>(batch))) return true;
  return shape.front() == -1 &&
         std::all_of(shape.begin() + 1, shape.end(), [](double side) { return side > 0; });
}

std::optional<OnnxColumns> onnx_columns(const OnnxGraph& graph, const OnnxPlan& plan,
                                        const OnnxConstants& constants, std::string_view value) {
  return ColumnReader(graph, plan, constants).read(value);
}

}  // namespace harmonia
