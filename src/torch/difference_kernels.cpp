#include "difference_kernels.hpp"

#include <torch/version.h>

#include <algorithm>

#include "cuda_program.hpp"
#include "difference_cuda.hpp"

namespace harmonia::kernels {
namespace {

constexpr std::int64_t kParts = 3;   // high, low and high
constexpr std::int64_t kVector = 4;  // numbers that a thread takes at once
constexpr std::int64_t kMostPairs = 65535;
constexpr unsigned kThreads = 256, kWarp = 32;

// Whether libtorch multiplies half precision into single.
constexpr bool kWideProducts = TORCH_VERSION_MAJOR > 2 ||
                               (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8);

// The same as in the text for the GPU.
struct Out {
  float* pairs = nullptr;
  void* bf16 = nullptr;
  float* tf32 = nullptr;
  unsigned channels = 0, stride = 0;
};

struct Pool {
  int height, width, channels, out_height, out_width, size, stride, padding;
};

bool on_gpu(const at::Tensor& tensor) {
  return has_cuda_programs() && tensor.is_cuda() && tensor.scalar_type() == at::kFloat;
}

bool fits(const Value& value, const Frame& frame) {
  const at::Tensor centre = value.centre.toTensor();
  return !value.pairs.isNone() && on_gpu(value.pairs.toTensor()) && frame.pairs <= kMostPairs &&
         centre.dim() >= 2 && centre.size(0) == frame.rows;
}

// Channels next to each other.
at::Tensor dense(const at::Tensor& tensor) {
  return tensor.contiguous(tensor.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

std::int64_t channels_of(const at::Tensor& tensor) { return tensor.size(tensor.dim() == 4 ? 1 : -1); }

std::int64_t rounded_up(std::int64_t number, std::int64_t to) { return (number + to - 1) / to * to; }

// A tensor whose last axis are the channels, as one whose second are.
at::Tensor as_image(const at::Tensor& tensor) { return tensor.permute({0, 3, 1, 2}); }

std::vector<std::int64_t> shape_of(at::IntArrayRef sizes) { return {sizes.begin(), sizes.end()}; }

bool in_half(Factors form) { return form == Factors::rows || form == Factors::pixels; }

// Room for differences of this shape in the forms that are wanted, which `value` then holds.
Out room(at::IntArrayRef sizes, const at::TensorOptions& options, bool wants_pairs, Factors wanted,
         Value& value) {
  std::vector<std::int64_t> shape = shape_of(sizes);
  const bool image = shape.size() == 4;
  if (image ? wanted == Factors::rows : wanted != Factors::rows) {  // another axis than that of the channels
    wants_pairs = wants_pairs || wanted != Factors::none;
    wanted = Factors::none;
  }
  if (image) shape = {shape[0], shape[2], shape[3], shape[1]};
  Out out;
  out.channels = static_cast<unsigned>(shape.back());
  if (wants_pairs) {
    const at::Tensor pairs = at::empty(shape, options);
    out.pairs = pairs.data_ptr<float>();
    value.pairs = image ? as_image(pairs) : pairs;
  }
  const std::int64_t channels = shape.back();
  if (in_half(wanted)) {
    shape.back() = kParts * channels;
    value.factors = at::empty(shape, options.dtype(at::kBFloat16));
    out.bf16 = value.factors.data_ptr();
  } else if (wanted == Factors::tf32) {
    shape.back() = rounded_up(kParts * channels, kVector);
    // What is beyond the parts stays zero.
    value.factors = shape.back() == kParts * channels ? at::empty(shape, options) : at::zeros(shape, options);
    out.tf32 = value.factors.data_ptr<float>();
  }
  out.stride = static_cast<unsigned>(shape.back());
  return out;
}

unsigned blocks_for(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

// As in the text for the GPU.
int activation_kind(const torch::jit::Node& node) {
  if (node.kind() == c10::aten::gelu) return 2;
  if (node.kind() == c10::aten::silu || node.kind() == c10::aten::silu_) return 3;
  if (node.kind() == c10::aten::sigmoid) return 4;
  return node.kind() == c10::aten::tanh ? 5 : 1;
}

void launch_activation(const at::Tensor& first, const at::Tensor& second, const at::Tensor& centre,
                       const Frame& frame, Out out, int kind) {
  const float* first_data = first.data_ptr<float>();
  const float* second_data = second.defined() ? second.data_ptr<float>() : nullptr;
  const float* centre_data = centre.defined() ? centre.data_ptr<float>() : nullptr;
  const std::int64_t* row = frame.row.data_ptr<std::int64_t>();
  auto size = static_cast<unsigned>(first.numel() / first.size(0));
  auto pairs = static_cast<unsigned>(frame.pairs);
  std::array<void*, 8> arguments{&first_data, &second_data, &centre_data, &row, &out, &size, &pairs, &kind};
  const char* const function = kind <= 1 ? "piecewise" : "activation";
  launch(difference_cuda(), function, {blocks_for(size, kVector * kThreads), pairs, kThreads},
         arguments.data());
}

// Differences as tensor cores take them; made now unless they were made so.
at::Tensor factors(const Step& step, const Frame& frame, const Value& value) {
  if (value.factors.defined()) {
    const bool half = value.factors.scalar_type() == at::kBFloat16;
    if (half == in_half(step.factors)) return value.factors;
  }
  if (value.pairs.isNone()) return {};
  const at::Tensor pairs = dense(value.pairs.toTensor());
  const at::Tensor addend = value.addend.defined() ? dense(value.addend) : at::Tensor();
  if (channels_of(pairs) % kVector != 0) {
    // Few channels, as of the image itself: with zeros, there are enough for the GPU.
    at::Tensor all = addend.defined() ? pairs + addend : pairs;
    if (step.factors != Factors::tf32) return {};
    const at::Tensor high = (all.view(at::kInt).bitwise_and(~0x1fff)).view(at::kFloat), low = all - high;
    std::vector<at::Tensor> parts{high, low, high};
    const std::int64_t missing = rounded_up(kParts * all.size(1), kVector) - kParts * all.size(1);
    if (missing > 0) {
      std::vector<std::int64_t> shape = shape_of(all.sizes());
      shape[1] = missing;
      parts.push_back(at::zeros(shape, all.options()));
    }
    return at::cat(parts, 1).contiguous(at::MemoryFormat::ChannelsLast).permute({0, 2, 3, 1});
  }
  Value made;
  const Out out = room(pairs.sizes(), pairs.options(), false, step.factors, made);
  launch_activation(pairs, addend, {}, frame, out, 0);
  return made.factors;
}

// Weights in three parts, along `axis`: high, high and low, with zeros up to a multiple of `to`.
at::Tensor parts_of(const at::Tensor& weight, std::int64_t axis, Factors form, std::int64_t to) {
  const at::Tensor high = in_half(form)
                              ? weight.to(at::kBFloat16).to(at::kFloat)
                              : weight.view(at::kInt).add(0x1000).bitwise_and(~0x1fff).view(at::kFloat);
  std::vector<at::Tensor> parts{high, high, weight - high};
  const std::int64_t missing = rounded_up(kParts * weight.size(axis), to) - kParts * weight.size(axis);
  if (missing > 0) {
    std::vector<std::int64_t> shape = shape_of(weight.sizes());
    shape[static_cast<std::size_t>(axis)] = missing;
    parts.push_back(at::zeros(shape, weight.options()));
  }
  return at::cat(parts, axis);
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b, at::kFloat); }
void wide_products(at::Tensor out, const at::Tensor& a, const at::Tensor& b) {
  at::bmm_out(out, a, b, at::kFloat);
}
at::Tensor tf32_convolution(const at::Tensor& x, const at::Tensor& weight, const Window& window) {
  return at::cudnn_convolution(x, weight, window.padding, window.stride, window.dilation, /*groups=*/1,
                               /*benchmark=*/false, /*deterministic=*/false, /*allow_tf32=*/true);
}
#else
// Never called: kWideProducts is false.
at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); }
void wide_products(at::Tensor out, const at::Tensor& a, const at::Tensor& b) { at::bmm_out(out, a, b); }
at::Tensor tf32_convolution(const at::Tensor& x, const at::Tensor& weight, const Window& window) {
  return at::conv2d(x, weight, {}, window.stride, window.padding, window.dilation);
}
#endif

// The same as in the text for the GPU: a matrix of every image and head.
struct Strided {
  const float* data;
  std::int64_t of_image, of_head, of_outer, of_inner;

  explicit Strided(const at::Tensor& tensor)
      : data(tensor.data_ptr<float>()),
        of_image(tensor.stride(0)),
        of_head(tensor.stride(1)),
        of_outer(tensor.stride(2)),
        of_inner(tensor.stride(3)) {}
};

// A factor of a product of two that vary, as D and S of the product take it: matrices × outer × what is
// summed.
struct Packed {
  at::Tensor d, s;
};

Packed packed(const at::Tensor& pairs, const at::Tensor& centre, const Frame& frame, bool is_right) {
  Strided moved(pairs), there(centre);
  auto heads = static_cast<unsigned>(pairs.size(1)), outer = static_cast<unsigned>(pairs.size(2)),
       inner = static_cast<unsigned>(pairs.size(3)),
       padded = static_cast<unsigned>(rounded_up(pairs.size(3), 8)),
       count = static_cast<unsigned>(frame.pairs);
  int right = is_right ? 1 : 0, inner_last = pairs.stride(3) == 1 ? 1 : 0;
  const auto room_for = [&](std::int64_t parts) {
    const std::int64_t matrices = frame.pairs * heads, summed = parts * padded;
    const at::TensorOptions options = pairs.options().dtype(at::kBFloat16);
    return inner_last != 0 ? at::empty({matrices, outer, summed}, options)
                           : at::empty({matrices, summed, outer}, options).transpose(1, 2);
  };
  Packed out{room_for(2 * kParts), room_for(3 * kParts)};
  void* d_data = out.d.data_ptr();
  void* s_data = out.s.data_ptr();
  const std::int64_t* row = frame.row.data_ptr<std::int64_t>();
  std::array<void*, 12> arguments{&moved, &there, &row,    &d_data, &s_data, &heads,
                                  &outer, &inner, &padded, &count,  &right,  &inner_last};
  launch(difference_cuda(), "pack",
         {blocks_for(std::int64_t{heads} * outer * padded, 2 * kThreads), count, kThreads}, arguments.data());
  return out;
}

// Numbers are packed by twos along the axis on which they lie next to each other.
bool comes_in_twos(const at::Tensor& pairs, std::int64_t outer, std::int64_t inner) {
  return pairs.stride(inner) == 1 || pairs.size(outer) % 2 == 0;
}

std::int64_t whole(const c10::IValue& value) { return value.toInt(); }

}  // namespace

Factors factors_of(const torch::jit::Node& node, at::Tensor& weight) {
  if (!kWideProducts || !on_gpu(weight)) return Factors::none;
  if (node.kind() == c10::aten::linear && weight.dim() == 2 && weight.size(1) % 8 == 0) {
    weight = parts_of(weight, 1, Factors::rows, 1).to(at::kBFloat16).t().contiguous();
    return Factors::rows;
  }
  if (node.kind() != c10::aten::conv2d || weight.dim() != 4) return Factors::none;
  const auto groups = torch::jit::toIValue(node.input(6));
  const auto padding = torch::jit::toIValue(node.input(4));
  if (!groups || whole(*groups) != 1 || !padding || !padding->isIntList()) return Factors::none;
  const std::vector<std::int64_t> edges = padding->toIntVector();
  const bool padded = std::any_of(edges.begin(), edges.end(), [](std::int64_t edge) { return edge != 0; });
  if (weight.size(2) == 1 && weight.size(3) == 1 && !padded && weight.size(1) % 8 == 0) {
    weight = parts_of(weight.flatten(1), 1, Factors::pixels, 1).to(at::kBFloat16).t().contiguous();
    return Factors::pixels;
  }
  weight = parts_of(weight, 1, Factors::tf32, kVector).contiguous(at::MemoryFormat::ChannelsLast);
  return Factors::tf32;
}

bool activation(const Step& step, const Frame& frame, const Value& in, Value& out) {
  if (!fits(in, frame)) return false;
  const at::Tensor pairs = dense(in.pairs.toTensor()), centre = dense(in.centre.toTensor().to(at::kFloat));
  if (channels_of(pairs) % kVector != 0) return false;
  const at::Tensor addend = in.addend.defined() ? dense(in.addend) : at::Tensor();
  const Out to = room(pairs.sizes(), pairs.options(), step.wants_pairs, step.wanted, out);
  launch_activation(pairs, addend, centre, frame, to, activation_kind(*step.node));
  return true;
}

bool max_pool(const Step& step, const Frame& frame, const Value& in,
              const std::array<std::vector<std::int64_t>, 4>& window, Value& out) {
  if (!fits(in, frame) || in.addend.defined()) return false;
  const at::Tensor pairs = dense(in.pairs.toTensor()), centre = dense(in.centre.toTensor().to(at::kFloat));
  const auto same = [](const std::vector<std::int64_t>& sizes) {
    return !sizes.empty() &&
           std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size == sizes[0]; });
  };
  const std::vector<std::int64_t>&size = window[0], &stride = window[1], &padding = window[2],
        &dilation = window[3];
  const bool plain = pairs.dim() == 4 && pairs.size(1) % kVector == 0 && same(size) && same(stride) &&
                     same(padding) && same(dilation) && dilation[0] == 1;
  if (!plain) return false;
  const auto pooled = [&](std::int64_t side) { return (side + 2 * padding[0] - size[0]) / stride[0] + 1; };
  const std::vector<std::int64_t> sizes{pairs.size(0), pairs.size(1), pooled(pairs.size(2)),
                                        pooled(pairs.size(3))};
  Out to = room(sizes, pairs.options(), step.wants_pairs, step.wanted, out);
  Pool pool{static_cast<int>(pairs.size(2)), static_cast<int>(pairs.size(3)), static_cast<int>(pairs.size(1)),
            static_cast<int>(sizes[2]),      static_cast<int>(sizes[3]),      static_cast<int>(size[0]),
            static_cast<int>(stride[0]),     static_cast<int>(padding[0])};
  const float* data = pairs.data_ptr<float>();
  const float* centre_data = centre.data_ptr<float>();
  const std::int64_t* row = frame.row.data_ptr<std::int64_t>();
  auto count = static_cast<unsigned>(frame.pairs);
  std::array<void*, 6> arguments{&data, &centre_data, &row, &to, &pool, &count};
  launch(difference_cuda(), "max_pool",
         {blocks_for(sizes[1] * sizes[2] * sizes[3], kVector * kThreads), count, kThreads}, arguments.data());
  return true;
}

bool layer_norm(const Step& step, const Frame& frame, const Value& in, const at::Tensor& weight,
                double epsilon, Value& out) {
  if (!fits(in, frame) || in.addend.defined()) return false;
  const at::Tensor pairs = in.pairs.toTensor().contiguous(),
                   centre = in.centre.toTensor().to(at::kFloat).contiguous();
  if (pairs.dim() == 4 || pairs.size(-1) % kVector != 0) return false;
  const at::Tensor scale = weight.contiguous();
  Out to = room(pairs.sizes(), pairs.options(), step.wants_pairs, step.wanted, out);
  const float* data = pairs.data_ptr<float>();
  const float* centre_data = centre.data_ptr<float>();
  const float* scale_data = scale.data_ptr<float>();
  const std::int64_t* row = frame.row.data_ptr<std::int64_t>();
  auto width = static_cast<unsigned>(pairs.size(-1));
  auto tokens = static_cast<unsigned>(centre.numel() / centre.size(0) / pairs.size(-1));
  auto count = static_cast<unsigned>(frame.pairs);
  auto small = static_cast<float>(epsilon);
  std::array<void*, 9> arguments{&data,  &centre_data, &row,   &scale_data, &to,
                                 &width, &tokens,      &count, &small};
  launch(difference_cuda(), "layer_norm", {blocks_for(tokens, kThreads / kWarp), count, kThreads},
         arguments.data());
  return true;
}

bool softmax(const Step&, const Frame& frame, const Value& in, Value& out) {
  if (!fits(in, frame) || in.addend.defined()) return false;
  const at::Tensor pairs = in.pairs.toTensor().contiguous(),
                   centre = out.centre.toTensor().to(at::kFloat).contiguous();
  const at::Tensor found = at::empty(pairs.sizes(), pairs.options());
  const float* data = pairs.data_ptr<float>();
  const float* centre_data = centre.data_ptr<float>();
  const std::int64_t* row = frame.row.data_ptr<std::int64_t>();
  float* to = found.data_ptr<float>();
  auto width = static_cast<unsigned>(pairs.size(-1));
  auto lists = static_cast<unsigned>(centre.numel() / centre.size(0) / pairs.size(-1));
  auto count = static_cast<unsigned>(frame.pairs);
  std::array<void*, 7> arguments{&data, &centre_data, &row, &to, &width, &lists, &count};
  launch(difference_cuda(), "softmax", {blocks_for(lists, kThreads / kWarp), count, kThreads},
         arguments.data());
  out.pairs = found;
  return true;
}

bool convolution(const Step& step, const Frame& frame, const Value& in, const Window& window, Value& out) {
  if (step.factors == Factors::none) return false;
  at::Tensor x = factors(step, frame, in);
  if (!x.defined()) return false;
  if (step.factors == Factors::tf32) {
    out.pairs = tf32_convolution(as_image(x), step.weight, window);
    return true;
  }
  for (const std::int64_t axis : {1, 2}) {
    const std::int64_t stride = window.stride[static_cast<std::size_t>(axis - 1) % window.stride.size()];
    if (stride > 1) x = x.slice(axis, 0, x.size(axis), stride);
  }
  const at::Tensor found = wide_product(x.reshape({-1, x.size(3)}), step.weight);
  out.pairs = as_image(found.view({x.size(0), x.size(1), x.size(2), -1}));
  return true;
}

bool linear(const Step& step, const Frame& frame, const Value& in, Value& out) {
  if (step.factors == Factors::none || in.centre.toTensor().dim() == 4) return false;
  const at::Tensor x = factors(step, frame, in);
  if (!x.defined()) return false;
  std::vector<std::int64_t> shape = shape_of(x.sizes());
  shape.back() = step.weight.size(1);
  out.pairs = wide_product(x.reshape({-1, x.size(-1)}), step.weight).view(shape);
  return true;
}

bool products(const Frame& frame, const Value& left, const Value& right, Value& out) {
  const at::Tensor a = left.centre.toTensor().to(at::kFloat), b = right.centre.toTensor().to(at::kFloat);
  const bool known = kWideProducts && fits(left, frame) && fits(right, frame) && !left.addend.defined() &&
                     !right.addend.defined() && a.dim() == 4 && b.dim() == 4 && a.size(1) == b.size(1) &&
                     a.size(3) == b.size(2) && comes_in_twos(left.pairs.toTensor(), 2, 3) &&
                     comes_in_twos(right.pairs.toTensor(), 3, 2);
  if (!known) return false;
  const Packed factor = packed(left.pairs.toTensor(), a, frame, false),
               other = packed(right.pairs.toTensor().transpose(2, 3), b.transpose(2, 3), frame, true);
  const std::int64_t matrices = frame.pairs * a.size(1);
  const at::Tensor found = at::empty({2 * matrices, a.size(2), b.size(3)}, a.options());
  wide_products(found.narrow(0, 0, matrices), factor.d, other.d.transpose(1, 2));
  wide_products(found.narrow(0, matrices, matrices), factor.s, other.s.transpose(1, 2));
  out.pairs = found.view({2 * frame.pairs, a.size(1), a.size(2), b.size(3)});
  return true;
}

}  // namespace harmonia::kernels
