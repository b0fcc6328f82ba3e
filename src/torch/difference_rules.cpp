#include "difference_rules.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "difference_kernels.hpp"

namespace harmonia {
namespace {

using torch::jit::Stack;
using Values = std::vector<Value*>;

// Lists and tuples, which an interpreter makes itself, and every other operation.
Stack outputs_of(const Step& step, Stack stack) {
  const torch::jit::Node& node = *step.node;
  switch (node.kind()) {
    case c10::prim::ListConstruct: {
      c10::impl::GenericList list(node.output()->type()->expectRef<c10::ListType>().getElementType());
      for (const c10::IValue& value : stack) list.push_back(value);
      return {c10::IValue(list)};
    }
    case c10::prim::ListUnpack: {
      const auto parts = stack.at(0).toListRef();
      if (parts.size() != node.outputs().size()) throw std::runtime_error("a list has another length than expected");
      return Stack(parts.begin(), parts.end());
    }
    case c10::prim::TupleConstruct:
      return {c10::IValue(c10::ivalue::Tuple::create(std::move(stack)))};
    case c10::prim::TupleUnpack: {
      const auto& parts = stack.at(0).toTupleRef().elements();
      return Stack(parts.begin(), parts.end());
    }
    default:
      torch::jit::Operation(step.operation.value())(stack);  // calls are not marked const
      return stack;
  }
}

Stack centres_of(const Values& in) {
  Stack stack;
  for (const Value* value : in) stack.push_back(value->centre);
  return stack;
}

void put_centres(const Step& step, const Values& in, const Values& out) {
  Stack found = outputs_of(step, centres_of(in));
  for (std::size_t k = 0; k < out.size(); ++k) out[k]->centre = std::move(found[k]);
}

bool holds_numbers(const torch::jit::Value& value) {
  return value.type()->isSubtypeOf(*c10::TensorType::get()) ||
         value.type()->isSubtypeOf(*c10::ListType::ofTensors()) ||
         value.type()->kind() == c10::TypeKind::TupleType;
}

// Differences as one tensor.
at::Tensor pairs_of(const Value& value) {
  const at::Tensor pairs = value.pairs.toTensor();
  return value.addend.defined() ? at::add(pairs, value.addend) : pairs;
}

// The row of every pair.
at::Tensor for_pairs(const at::Tensor& centres, const Frame& frame) {
  if (centres.dim() == 0 || centres.size(0) != frame.rows)
    throw std::runtime_error("rows are not along the first axis of an operation that is not linear");
  return centres.index_select(0, frame.row);
}

struct DS {
  at::Tensor d, s;

  DS(const at::Tensor& pairs, const Frame& frame)
      : d(pairs.narrow(0, 0, frame.pairs)), s(pairs.narrow(0, frame.pairs, frame.pairs)) {}
};

// D' and S' of what both points differ by from the row's own answer.
at::Tensor joined(const at::Tensor& plus, const at::Tensor& minus) {
  return at::cat({(plus - minus) * 0.5, plus + minus});
}

// Any operation that treats rows one by one, in double precision: at the row, at both points, and the differences.
void by_evaluation(const Step& step, const Frame& frame, Values& in, Values& out) {
  std::array<Stack, 3> points;
  at::ScalarType type = at::kFloat;
  for (const Value* value : in) {
    if (!value->varies) {
      for (Stack& point : points) point.push_back(value->centre);
      continue;
    }
    const at::Tensor there = for_pairs(value->centre.toTensor(), frame), pairs = pairs_of(*value);
    type = pairs.scalar_type();
    const DS moved(pairs.to(at::kDouble), frame);
    points[0].push_back(there);
    points[1].push_back(there + moved.d + moved.s * 0.5);
    points[2].push_back(there - moved.d + moved.s * 0.5);
  }
  std::array<at::Tensor, 3> found;
  for (std::size_t k = 0; k < points.size(); ++k)
    found[k] = outputs_of(step, std::move(points[k])).at(0).toTensor();
  out[0]->pairs = joined(found[1] - found[0], found[2] - found[0]).to(type);
  put_centres(step, in, out);
}

void activation(const Step& step, const Frame& frame, Values& in, Values& out) {
  const bool approximate = in.size() > 1 && in[1]->centre.toStringRef() != "none";  // of gelu
  if (approximate || !kernels::activation(step, frame, *in[0], *out[0])) return by_evaluation(step, frame, in, out);
  put_centres(step, in, out);
}

void max_pool(const Step& step, const Frame& frame, Values& in, Values& out) {
  const std::array<std::vector<std::int64_t>, 4> window{in[1]->centre.toIntVector(), in[2]->centre.toIntVector(),
                                                        in[3]->centre.toIntVector(), in[4]->centre.toIntVector()};
  if (in[5]->centre.toBool() || !kernels::max_pool(step, frame, *in[0], window, *out[0]))
    return by_evaluation(step, frame, in, out);
  put_centres(step, in, out);
}

void layer_norm(const Step& step, const Frame& frame, Values& in, Values& out) {
  if (in[1]->centre.toIntVector().size() != 1 || in[2]->centre.isNone() ||
      !kernels::layer_norm(step, frame, *in[0], in[2]->pairs.toTensor(), in[4]->centre.toDouble(), *out[0]))
    return by_evaluation(step, frame, in, out);
  put_centres(step, in, out);
}

void softmax(const Step& step, const Frame& frame, Values& in, Values& out) {
  const at::Tensor before = in[0]->centre.toTensor();
  const std::int64_t axis = in[1]->centre.toInt();
  const bool last = axis == -1 || axis == before.dim() - 1;
  put_centres(step, in, out);
  if (!last || !kernels::softmax(step, frame, *in[0], *out[0])) by_evaluation(step, frame, in, out);
}

// A product of two that vary: exact, like (a + δa)(b + δb) − ab.
template <class Product>
at::Tensor product(const Product& times, const Frame& frame, const Value& left, const Value& right) {
  const DS da(pairs_of(left), frame), db(pairs_of(right), frame);
  const at::Tensor a = for_pairs(left.centre.toTensor().to(da.d.scalar_type()), frame),
                   b = for_pairs(right.centre.toTensor().to(db.d.scalar_type()), frame);
  const at::Tensor middle = at::add(a, da.s, 0.5);
  return at::cat({times(middle, db.d) + times(da.d, at::add(b, db.s, 0.5)),
                  times(middle, db.s) + times(da.s, b) + times(da.d, db.d) * 2});
}

void multiply(const Step& step, const Frame& frame, Values& in, Values& out) {
  if (!in[0]->varies || !in[1]->varies) return on_both_sides(step, frame, in, out);
  const auto times = [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); };
  out[0]->pairs = product(times, frame, *in[0], *in[1]);
  put_centres(step, in, out);
}

void matrix_multiply(const Step& step, const Frame& frame, Values& in, Values& out) {
  if (!in[0]->varies || !in[1]->varies) return on_both_sides(step, frame, in, out);
  if (!kernels::products(frame, *in[0], *in[1], *out[0])) {
    const auto times = [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); };
    out[0]->pairs = product(times, frame, *in[0], *in[1]);
  }
  put_centres(step, in, out);
}

void divide(const Step& step, const Frame& frame, Values& in, Values& out) {
  in[1]->varies ? by_evaluation(step, frame, in, out) : on_both_sides(step, frame, in, out);
}

// A sum with something constant leaves differences as they are.
at::Tensor beside(const at::Tensor& pairs, const c10::IValue& constant) {
  if (!constant.isTensor() || constant.toTensor().dim() == 0) return pairs;
  const std::vector<std::int64_t> shape = at::infer_size(pairs.sizes(), constant.toTensor().sizes());
  return pairs.sizes() == at::IntArrayRef(shape) ? pairs : pairs.expand(shape);
}

void add_or_subtract(const Step& step, Values& in, Values& out, double sign) {
  const double factor = in.size() > 2 ? sign * in[2]->centre.toScalar().toDouble() : sign;
  if (!in[1]->varies) {
    out[0]->pairs = beside(pairs_of(*in[0]), in[1]->pairs);
  } else if (!in[0]->varies) {
    out[0]->pairs = beside(pairs_of(*in[1]) * factor, in[0]->pairs);
  } else if (step.adds_later && factor == 1 && in[0]->pairs.toTensor().sizes() == in[1]->pairs.toTensor().sizes()) {
    out[0]->pairs = pairs_of(*in[0]);
    out[0]->addend = pairs_of(*in[1]);
  } else {
    out[0]->pairs = at::add(pairs_of(*in[0]), pairs_of(*in[1]), factor);
  }
  put_centres(step, in, out);
}

void add(const Step& step, const Frame&, Values& in, Values& out) { add_or_subtract(step, in, out, 1); }
void subtract(const Step& step, const Frame&, Values& in, Values& out) { add_or_subtract(step, in, out, -1); }

void convolution(const Step& step, const Frame& frame, Values& in, Values& out) {
  const kernels::Window window{in[3]->centre.toIntVector(), in[4]->centre.toIntVector(), in[5]->centre.toIntVector()};
  if (!kernels::convolution(step, frame, *in[0], window, *out[0])) {
    out[0]->pairs = at::conv2d(pairs_of(*in[0]), in[1]->pairs.toTensor(), {}, window.stride, window.padding,
                               window.dilation, in[6]->centre.toInt());
  }
  put_centres(step, in, out);
}

void linear(const Step& step, const Frame& frame, Values& in, Values& out) {
  if (!kernels::linear(step, frame, *in[0], *out[0]))
    out[0]->pairs = at::linear(pairs_of(*in[0]), in[1]->pairs.toTensor());
  put_centres(step, in, out);
}

void batch_norm(const Step& step, const Frame&, Values& in, Values& out) {
  const at::Tensor pairs = pairs_of(*in[0]);
  at::Tensor scale = at::rsqrt(in[4]->pairs.toTensor() + in[7]->centre.toDouble());
  if (!in[1]->centre.isNone()) scale = scale * in[1]->pairs.toTensor();
  std::vector<std::int64_t> shape(static_cast<std::size_t>(pairs.dim()), 1);
  shape[1] = scale.numel();
  out[0]->pairs = pairs * scale.view(shape);
  put_centres(step, in, out);
}

// A list or tuple in which what is constant differs by nothing.
void collection(const Step& step, const Frame&, Values& in, Values& out) {
  Stack pairs;
  const bool varies = std::any_of(in.begin(), in.end(), [](const Value* value) { return value->varies; });
  for (const Value* value : in) {
    if (!varies || !value->pairs.isTensor()) {
      pairs.push_back(value->pairs);
    } else {
      pairs.push_back(value->varies ? pairs_of(*value) : at::zeros_like(value->pairs.toTensor()));
    }
  }
  out[0]->pairs = std::move(outputs_of(step, std::move(pairs)).at(0));
  put_centres(step, in, out);
}

struct Known {
  std::string_view name;
  Rule rule;
  bool any = false;  // of its operands may vary, not the first alone
};

constexpr std::array kKnown{
    Known{"aten::conv2d", convolution},
    Known{"aten::linear", linear},
    Known{"aten::batch_norm", batch_norm},
    Known{"aten::add", add, true},
    Known{"aten::add_", add, true},
    Known{"aten::sub", subtract, true},
    Known{"aten::sub_", subtract, true},
    Known{"aten::mul", multiply, true},
    Known{"aten::matmul", matrix_multiply, true},
    Known{"aten::bmm", matrix_multiply, true},
    Known{"aten::div", divide, true},
    Known{"aten::max_pool2d", max_pool},
    Known{"aten::layer_norm", layer_norm},
    Known{"aten::softmax", softmax},
    Known{"aten::relu", activation},
    Known{"aten::relu_", activation},
    Known{"aten::gelu", activation},
    Known{"prim::ListConstruct", collection, true},
    Known{"prim::TupleConstruct", collection, true},
};

// Linear without a constant term, in their one operand that varies; or the shape of things.
constexpr std::array<std::string_view, 31> kLinear{
    "aten::size",     "aten::dim",       "aten::len",        "aten::view",         "aten::reshape",
    "aten::flatten",  "aten::permute",   "aten::transpose",  "aten::t",            "aten::contiguous",
    "aten::unbind",   "aten::select",    "aten::slice",      "aten::chunk",        "aten::split",
    "aten::squeeze",  "aten::unsqueeze", "aten::expand",     "aten::avg_pool2d",   "aten::adaptive_avg_pool2d",
    "aten::mean",     "aten::sum",       "aten::neg",        "aten::dropout",      "aten::cat",
    "aten::stack",    "aten::detach",    "aten::alias",      "prim::ListUnpack",   "prim::TupleUnpack",
    "aten::__getitem__"};

// Of one tensor that varies, row by row.
constexpr std::array<std::string_view, 26> kRowByRow{
    "aten::tanh",       "aten::sigmoid",   "aten::silu",       "aten::softplus", "aten::elu",         "aten::leaky_relu",
    "aten::exp",        "aten::log",       "aten::sqrt",       "aten::rsqrt",    "aten::sin",         "aten::cos",
    "aten::erf",        "aten::abs",       "aten::pow",        "aten::clamp",    "aten::hardtanh",    "aten::hardswish",
    "aten::hardsigmoid", "aten::mish",     "aten::relu6",      "aten::selu",     "aten::log_softmax", "aten::group_norm",
    "aten::log_sigmoid", "aten::softsign"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A convolution whose padding is a word has another schema.
bool has_known_schema(const torch::jit::Node& node) {
  return node.kind() != c10::aten::conv2d || node.input(4)->type()->kind() == c10::TypeKind::ListType;
}

}  // namespace

void on_both_sides(const Step& step, const Frame&, std::vector<Value*>& in, std::vector<Value*>& out) {
  Stack pairs;
  for (const Value* value : in) pairs.push_back(value->varies && value->pairs.isTensor() ? pairs_of(*value) : value->pairs);
  Stack found = outputs_of(step, std::move(pairs));
  for (std::size_t k = 0; k < out.size(); ++k) out[k]->pairs = std::move(found[k]);
  put_centres(step, in, out);
}

Rule rule_of(const torch::jit::Node& node, const std::vector<bool>& varies) {
  const std::string_view name = node.kind().toQualString();
  const auto count = std::count(varies.begin(), varies.end(), true);
  if (count == 0) return on_both_sides;
  if (std::none_of(node.outputs().begin(), node.outputs().end(), [](const auto* v) { return holds_numbers(*v); }))
    return contains(kLinear, name) ? on_both_sides : nullptr;
  if (!has_known_schema(node)) return nullptr;
  const bool first_alone = count == 1 && varies[0];
  for (const Known& known : kKnown)
    if (known.name == name) return known.any || first_alone ? known.rule : nullptr;
  if (first_alone && contains(kLinear, name)) return on_both_sides;
  if (first_alone && contains(kRowByRow, name)) return by_evaluation;
  return nullptr;
}

}  // namespace harmonia
