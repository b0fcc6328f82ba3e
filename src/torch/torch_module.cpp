#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "batch_sizes.hpp"
#include "blas.hpp"
#include "device.hpp"
#include "device_threads.hpp"
#include "differences.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "point_pairs.hpp"
#include "torch_interface.hpp"
#include "traced_flags.hpp"

namespace harmonia {
namespace {

// Rows a call: enough that a call's own cost and the reading of the weights do not show, few enough that
// what lies between two layers stays in the cache.
constexpr std::size_t kBatchRows = 512;
constexpr std::size_t kBatchPixels = std::size_t{1} << 17U;  // and of images, this many values a call
constexpr std::size_t kDeviceRows = 8192;                    // a GPU wants many more at once
constexpr std::size_t kDeviceValues = std::size_t{1} << 26U;
constexpr std::size_t kDeviceMore = 2;         // times as many by differences, beside which rows are few
constexpr std::size_t kDeviceThreads = 2;      // of a GPU's callers: one makes points while the other waits
constexpr std::size_t kDifferenceThreads = 4;  // by differences there is less to wait for
constexpr std::size_t kDeviceSizes = 32;  // of batches of points: for every size cuDNN makes its plans anew
constexpr std::size_t kExampleRows = 2;   // one would not tell rows from outputs
constexpr std::size_t kCentreRows = 4;    // beside pairs, rows come in multiples of this, for the same reason

torch::jit::Module load(TorchRequest& request, c10::Device device) {
  try {
    std::istringstream in(std::move(request.bytes));
    torch::jit::Module module = torch::jit::load(in, device);
    if (!module.find_method("forward")) throw std::runtime_error("it has no method 'forward'");
    module.eval();
    for (const at::Tensor& parameter : module.parameters()) parameter.requires_grad_(false);
    return module;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::input, fmt::format("model {} cannot be loaded by libtorch {}: {}", request.path,
                                              TORCH_VERSION, reason(error)));
  }
}

// Weights as constants, and what follows from that worked out once. Not every module can be frozen.
torch::jit::Module frozen(const torch::jit::Module& module) {
  try {
    return torch::jit::freeze(module);
  } catch (const std::exception&) {
    return module;
  }
}

// The type of the weights; of a module without any, single precision.
at::ScalarType type_of(const torch::jit::Module& module) {
  for (const at::Tensor& parameter : module.parameters())
    if (parameter.is_floating_point()) return parameter.scalar_type();
  for (const at::Tensor& buffer : module.buffers())
    if (buffer.is_floating_point()) return buffer.scalar_type();
  return at::kFloat;
}

// Threads are the caller's: calls run side by side, each on the thread that makes it. Every thread keeps
// libtorch's number for itself.
void run_on_this_thread_alone() {
  if (at::get_num_threads() != 1) at::set_num_threads(1);
}

class TorchModel final : public Model, public Differentiable {
 public:
  explicit TorchModel(TorchRequest& request)
      : device_(device_named(request.options->device)),
        module_(load(request, device_)),
        type_(type_of(module_)) {
    module_ = frozen(module_);
    forbid_tf32(module_);
    info_.name = request.path;
    info_.kind = "torch";
    info_.sha256 = request.sha256;
    info_.scalar = type_ == at::kDouble ? Scalar::float64 : Scalar::float32;
    info_.takes_missing = request.options->takes_missing;
    info_.example_rows = kExampleRows;
    if (device_.is_cuda()) {
      info_.preferred_threads = kDeviceThreads;
      compute_in_full();
      threads_ = std::make_unique<DeviceThreads>(device_, kDeviceThreads);
      plans_ = has_convolutions(module_);
      torch::cuda::synchronize(device_.index());  // the weights are there before another stream reads them
    }
    learn_shapes(request);
    set_batch();
    if (device_.is_cuda()) learn_differences(request);
    if (info_.outputs == 1) info_.binary = request.options->binary;
    if (type_ != at::kDouble && type_ != at::kFloat) {
      info_.warning = fmt::format(
          "the weights of {} are of type {}, whose rounding is larger than most gammas: they may come out "
          "too large by an order of magnitude; save the module with .float()",
          request.path, c10::toString(type_));
    }
  }

  const ModelInfo& info() const override { return info_; }
  const Differentiable* differentiable() const override { return this; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    guarded([&] {
      const at::NoGradGuard no_gradients;
      copy_out(answered(filled_up(input(x)), x.rows()), y.data);
    });
  }

  // A GPU is sent a row once, and what of it is another number in each point.
  bool makes_points() const override { return device_.is_cuda(); }

  void evaluate_made(const PointsToMake& points, MutableRowsView y) const override {
    guarded([&] {
      const at::NoGradGuard no_gradients;
      const at::Tensor bases =
          input(points.bases).reshape({static_cast<std::int64_t>(points.bases.rows()), -1});
      std::vector<std::int64_t> base(points.base.begin(), points.base.end());
      base.resize(whole_size(base.size()));
      const at::Tensor made = bases.index_select(0, sent(base));
      made.view({-1}).scatter_(0, sent(places(points)), sent(points.value).to(type_));
      if (differences_ && points.paired) return copy_out(answer_pairs(points, bases, made), y.data);
      copy_out(answered(shaped(made), points.points()), y.data);
    });
  }

  void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                MutableRowsView gradients) const override {
    guarded([&] {
      const at::AutoGradMode with_gradients(true);
      const at::Tensor leaf = filled_up(input(x)).requires_grad_();
      // A copy, because a module may work in place, which a leaf forbids.
      const at::Tensor out = answered(leaf.clone(), x.rows());
      copy_out(out.detach(), y.data);
      Matrix<double> weights(x.rows(), info_.outputs);
      for (std::size_t i = 0; i < x.rows(); ++i)
        by_outputs(i, {y.row(i), info_.outputs}, {weights.row(i), info_.outputs});
      const auto rows = static_cast<std::int64_t>(x.rows());
      copy_out(pull_back(out, leaf, weights).narrow(0, 0, rows), gradients.data);
    });
  }

 private:
  // Points that come in pairs, by their differences from the rows.
  at::Tensor answer_pairs(const PointsToMake& points, const at::Tensor& bases, const at::Tensor& made) const {
    PointPairs pairs(points);
    const auto count = static_cast<std::int64_t>(points.points()),
               found = static_cast<std::int64_t>(pairs.row.size());
    if (found == 0) return answered(shaped(made), points.points());
    fill_up(pairs.centres, (pairs.centres.size() + kCentreRows - 1) / kCentreRows * kCentreRows);
    for (auto* numbers : {&pairs.row, &pairs.plus, &pairs.minus})
      fill_up(*numbers, (whole_size(2 * numbers->size()) + 1) / 2);
    const at::Tensor centres = bases.index_select(0, sent(pairs.centres)), row = sent(pairs.row);
    const at::Tensor plus = sent(pairs.plus), minus = sent(pairs.minus);
    const at::Tensor moved =
        differences_of(centres, row, made.index_select(0, plus), made.index_select(0, minus));
    const PairAnswers answers = differences_->answer({shaped(centres), row, shaped(moved)});
    const at::Tensor out = at::empty({count, static_cast<std::int64_t>(info_.outputs)},
                                     at::TensorOptions(device_).dtype(at::kDouble));
    const auto put = [&](const at::Tensor& places, const at::Tensor& values) {
      out.index_copy_(0, places.narrow(0, 0, found), values.narrow(0, 0, found));
    };
    put(plus, point_answers(answers, row, true));
    put(minus, point_answers(answers, row, false));
    if (!pairs.alone.empty())
      out.index_copy_(0, sent(pairs.alone),
                      answers.centres.to(at::kDouble).index_select(0, sent(pairs.alone_row)));
    return out;
  }

  static void fill_up(std::vector<std::int64_t>& numbers, std::size_t count) {
    numbers.resize(count, numbers.front());
  }

  // As many rows as there are, in the shape that the module takes.
  at::Tensor shaped(const at::Tensor& rows) const {
    std::vector<std::int64_t> shape = shape_;
    shape.front() = rows.size(0);
    return rows.reshape(shape);
  }

  // Pairs are answered by differences where that is known to give the same, and sooner: of images and
  // sequences, by operations that have kernels of their own.
  void learn_differences(const TorchRequest& request) {
    if (!request.options->fast_path || type_ != at::kFloat || shape_.size() <= 2) return;
    std::string why_not;
    guarded([&] {
      const at::NoGradGuard no_gradients;
      try {
        auto differences = std::make_unique<Differences>(module_);
        why_not = differences->slow_operation();
        if (!why_not.empty()) why_not = fmt::format("differences of {} are slow", why_not);
        if (why_not.empty()) why_not = disagreement(*differences, module_, example_rows(request));
        if (why_not.empty()) differences_ = std::move(differences);
      } catch (const std::exception& error) {
        why_not = reason(error);
      }
    });
    torch::cuda::synchronize(device_.index());  // as with the weights: what was made of them is there
    info_.fast_path = why_not.empty() ? "differences" : "none: " + why_not;
    if (!differences_) return;
    info_.preferred_batch *= kDeviceMore;
    info_.preferred_threads = kDifferenceThreads;
    threads_->allow(kDifferenceThreads);
  }

  // The example and another row, on the device.
  at::Tensor example_rows(const TorchRequest& request) const {
    std::vector<double> example(request.example.begin(), request.example.end());
    example.resize(info_.inputs);
    for (double& number : example)
      if (std::isnan(number)) number = 0;
    const at::Tensor row = torch::tensor(example, at::kDouble).to(at::TensorOptions(device_).dtype(type_));
    return shaped(at::stack({row, row * 0.5 + 0.25}));
  }

  template <class Call>
  void guarded(const Call& call) const {
    const auto here = [&] {
      run_on_this_thread_alone();
      // Without this libtorch compiles the graph anew for sizes that it has not seen.
      const torch::jit::GraphOptimizerEnabledGuard as_it_is(false);
      call();
    };
    try {
      threads_ ? threads_->run(here) : here();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(ErrorCode::model, fmt::format("model {} failed: {}", info_.name, reason(error)));
    }
  }

  // Rows × the shape of a row, in memory of its own: a module may work in place.
  at::Tensor input(RowsView x) const {
    std::vector<std::int64_t> shape = shape_;
    shape.front() = static_cast<std::int64_t>(x.rows());
    const bool single = x.scalar() == Scalar::float32;
    const void* const data = single ? static_cast<const void*>(x.as<float>().data) : x.as<double>().data;
    // libtorch has no word for memory that it may not write to, and does not write to it here.
    const at::Tensor rows =
        torch::from_blob(const_cast<void*>(data), shape, single ? at::kFloat : at::kDouble);
    return rows.to(at::TensorOptions(device_).dtype(type_), /*non_blocking=*/false, /*copy=*/true);
  }

  // Rows are filled up with copies of the first ones to one of few sizes.
  at::Tensor filled_up(const at::Tensor& x) const {
    if (!plans_) return x;
    const auto rows = static_cast<std::size_t>(x.size(0));
    const auto more = static_cast<std::int64_t>(filled_size(rows, info_.preferred_batch) - rows);
    return more == 0 ? x : at::cat({x, x.narrow(0, 0, more)});
  }

  // Points that are made are filled up with copies of a row. Most batches of theirs are nearly as large as
  // can be, so that small steps cost few plans.
  std::size_t whole_size(std::size_t points) const {
    if (!plans_) return points;
    const std::size_t step = std::max<std::size_t>(1, info_.preferred_batch / kDeviceSizes);
    return (points + step - 1) / step * step;
  }

  // Where the replacements are in all points as one list.
  std::vector<std::int64_t> places(const PointsToMake& points) const {
    std::vector<std::int64_t> places(points.column.size());
    for (std::size_t i = 0; i < points.points(); ++i) {
      for (std::size_t k = points.first[i]; k < points.first[i + 1]; ++k)
        places[k] = static_cast<std::int64_t>(i * info_.inputs + points.column[k]);
    }
    return places;
  }

  // Numbers on the device.
  at::Tensor sent(std::span<const std::int64_t> numbers) const { return sent_as(numbers, at::kLong); }
  at::Tensor sent(std::span<const double> numbers) const { return sent_as(numbers, at::kDouble); }

  template <class T>
  at::Tensor sent_as(std::span<const T> numbers, at::ScalarType type) const {
    // libtorch has no word for memory that it may not write to, and does not write to it here.
    return torch::from_blob(const_cast<T*>(numbers.data()), {static_cast<std::int64_t>(numbers.size())}, type)
        .to(device_, /*non_blocking=*/false, /*copy=*/true);
  }

  // What the module answers to the first rows of a batch that may have been filled up.
  at::Tensor answered(const at::Tensor& x, std::size_t rows) const {
    return answer(x, static_cast<std::size_t>(x.size(0))).narrow(0, 0, static_cast<std::int64_t>(rows));
  }

  // What the module answers, rows × outputs once these are known.
  at::Tensor answer(const at::Tensor& x, std::size_t rows) const {
    // forward() is not marked const, and changes nothing of a module in evaluation mode.
    at::Tensor out = tensor_of(const_cast<torch::jit::Module&>(module_).forward({x}));
    const auto count = static_cast<std::int64_t>(rows);
    const bool row_by_row = out.dim() > 0 && out.size(0) == count && out.numel() > 0;
    // A single row may have lost its dimension on the way (squeeze).
    const bool single_row = rows == 1 && info_.outputs > 0;
    if (!row_by_row && !single_row) refuse_shape(out, rows);
    out = out.reshape({count, -1});
    if (info_.outputs > 0 && out.size(1) != static_cast<std::int64_t>(info_.outputs)) refuse_shape(out, rows);
    return out;
  }

  at::Tensor tensor_of(const c10::IValue& value) const {
    if (value.isTensor()) {
      at::Tensor tensor = value.toTensor();
      if (!tensor.defined() || tensor.is_complex()) refuse_type("complex numbers or nothing");
      return tensor;
    }
    if (value.isTuple() && !value.toTupleRef().elements().empty())
      return tensor_of(value.toTupleRef().elements()[0]);
    if (value.isTensorList() && !value.toTensorList().empty()) return value.toTensorList().get(0);
    if (value.isList() && !value.toListRef().empty()) return tensor_of(value.toListRef()[0]);
    refuse_type(value.tagKind());
  }

  [[noreturn]] void refuse_type(const std::string& found) const {
    throw Error(
        ErrorCode::model,
        fmt::format("model {} answers with {}; expected a tensor of numbers, rows × outputs, or a tuple "
                    "or list that begins with one",
                    info_.name, found));
  }

  [[noreturn]] void refuse_shape(const at::Tensor& out, std::size_t rows) const {
    const std::vector<std::int64_t> shape(out.sizes().begin(), out.sizes().end());
    throw Error(
        ErrorCode::model,
        fmt::format("model {} answers {} with a tensor of shape [{}]; expected {}", info_.name,
                    counted(rows, "row"), fmt::join(shape, ", "),
                    info_.outputs == 0 ? "as many rows" : fmt::format("[{}, {}]", rows, info_.outputs)));
  }

  static void copy_out(const at::Tensor& from, double* to) {
    const at::Tensor rows = from.to(at::TensorOptions(at::kCPU).dtype(at::kDouble)).contiguous();
    std::copy_n(rows.data_ptr<double>(), rows.numel(), to);
  }

  // The gradient by x of the sum of out × weights; of an answer that does not depend on x it is zero.
  at::Tensor pull_back(const at::Tensor& out, const at::Tensor& x, Matrix<double>& weights) const {
    if (!out.requires_grad()) return at::zeros_like(x);
    const at::Tensor by = torch::from_blob(weights.row(0), out.sizes(), at::kDouble)
                              .to(at::TensorOptions(device_).dtype(out.scalar_type()));
    const at::Tensor gradient = torch::autograd::grad({out}, {x}, {by}, /*retain_graph=*/{},
                                                      /*create_graph=*/false, /*allow_unused=*/true)[0];
    return gradient.defined() ? gradient : at::zeros_like(x);
  }

  // Asks the example, in the shape that rows have, and as plain lists of numbers if that is refused.
  void learn_shapes(const TorchRequest& request) {
    const std::vector<std::size_t>& row = request.options->row_shape;
    info_.inputs = std::accumulate(row.begin(), row.end(), std::size_t{1}, std::multiplies<>());
    if (row.empty()) info_.inputs = request.example.size();
    if (info_.inputs == 0 || (!request.example.empty() && request.example.size() != info_.inputs)) {
      throw Error(ErrorCode::input,
                  fmt::format("model {} takes rows of {}; the data has {} columns", info_.name,
                              row.empty() ? "an unknown width" : fmt::format("{}", fmt::join(row, "×")),
                              request.example.size()));
    }
    std::vector<double> example(request.example.begin(), request.example.end());
    example.resize(info_.inputs);
    shape_.assign(1, 0);
    shape_.insert(shape_.end(), row.begin(), row.end());
    if (row.size() > 1) {
      try {
        ask(example);
        info_.row_shape = row;
        return;
      } catch (const Error&) {
        if (!answers_plain(example)) throw;
        return;
      }
    }
    shape_ = {0, static_cast<std::int64_t>(info_.inputs)};
    ask(example);
  }

  bool answers_plain(const std::vector<double>& example) {
    shape_ = {0, static_cast<std::int64_t>(info_.inputs)};
    try {
      ask(example);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // Learns how many outputs there are.
  void ask(const std::vector<double>& example) {
    Matrix<double> rows(kExampleRows, info_.inputs);
    for (std::size_t i = 0; i < kExampleRows; ++i) std::copy(example.begin(), example.end(), rows.row(i));
    const std::vector<float> single(rows.row(0), rows.row(0) + kExampleRows * info_.inputs);
    const RowsView x = info_.scalar == Scalar::float32
                           ? RowsView(MatrixView<const float>{single.data(), kExampleRows, info_.inputs})
                           : RowsView(std::as_const(rows).view());
    guarded([&] {
      const at::NoGradGuard no_gradients;
      info_.outputs = static_cast<std::size_t>(answer(input(x), kExampleRows).size(1));
    });
  }

  void set_batch() {
    // What an image network has between two layers is many times its input.
    const bool images = shape_.size() > 2;
    const std::size_t rows =
        images ? std::clamp<std::size_t>(kBatchPixels / info_.inputs, 1, kBatchRows) : kBatchRows;
    std::size_t on_device = std::clamp<std::size_t>(kDeviceValues / info_.inputs, 1, kDeviceRows);
    if (on_device > kDeviceSizes) on_device -= on_device % kDeviceSizes;
    info_.preferred_batch = device_.is_cuda() ? on_device : rows;
  }

  ModelInfo info_;
  c10::Device device_;
  torch::jit::Module module_;
  at::ScalarType type_;
  std::vector<std::int64_t> shape_;           // of a batch; its first number is that of the rows
  std::unique_ptr<DeviceThreads> threads_;    // of a GPU
  bool plans_ = false;                        // are made for every size of a batch
  std::unique_ptr<Differences> differences_;  // null: not of this module
};

}  // namespace
}  // namespace harmonia

extern "C" {

__attribute__((visibility("default"))) const char* harmonia_torch_sources() { return HARMONIA_SOURCES; }

__attribute__((visibility("default"))) harmonia::Model* harmonia_torch_open(harmonia::TorchRequest& request) {
  harmonia::require_fast_blas("model " + request.path);
  return std::make_unique<harmonia::TorchModel>(request).release();
}
}
