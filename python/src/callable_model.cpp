#include "callable_model.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace harmonia::python {
namespace {

constexpr std::size_t kMostBuffers = 64;  // few are enough unless the function keeps what it is given

std::string shape_text(const nb::object& array) {
  const nb::object shape = array.attr("shape");
  return nb::str(shape).c_str();
}

// An array that batches are copied into. The function may keep what it is given, in a cache or a traceback,
// so the memory is Python's and is used again only when nobody else has it.
struct Buffer {
  nb::object array;
  std::shared_ptr<void> data;  // others hold it while it is lent
  std::size_t rows = 0;

  bool lent() const { return data.use_count() > 1; }
  bool kept() const { return Py_REFCNT(array.ptr()) > 1; }
  bool free() const { return !lent() && !kept(); }
};

class CallableModel final : public Model, public Differentiable {
 public:
  CallableModel(nb::object function, CallableOptions options)
      : function_(std::move(function)),
        gradient_(std::move(options.gradient)),
        numpy_(nb::module_::import_("numpy")),
        info_(std::move(options.info)) {
    if (info_.outputs == 0) learn_outputs(options.example);
  }

  ~CallableModel() override {
    const nb::gil_scoped_acquire held;
    buffers_.clear();
    function_.reset();
    gradient_.reset();
    numpy_.reset();
  }
  CallableModel(const CallableModel&) = delete;
  CallableModel& operator=(const CallableModel&) = delete;

  const ModelInfo& info() const override { return info_; }

  // Points written where the function will find them need not be copied.
  std::shared_ptr<void> batch_memory(std::size_t rows) const override {
    if (info_.reentrant) return nullptr;
    const nb::gil_scoped_acquire held;
    return buffer(rows)->data;
  }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const nb::gil_scoped_acquire held;
    take_answer(asked(x), y);
  }

  const Differentiable* differentiable() const override { return gradient_.is_valid() ? this : nullptr; }

  void gradient(RowsView x, const ByOutputs& by_outputs, MutableRowsView y,
                MutableRowsView gradients) const override {
    const nb::gil_scoped_acquire held;
    const nb::object answer = noted(x, [&] { return gradient_(array_of(x)); });
    take_answer(numbers(numpy_.attr("asarray")(answer[0])), y);
    const nb::object weights = numpy_.attr("empty")(nb::make_tuple(y.rows, y.columns), "float64");
    auto* const by = static_cast<double*>(nb::cast<nb::ndarray<nb::numpy, nb::c_contig>>(weights).data());
    {
      const nb::gil_scoped_release released;
      for (std::size_t i = 0; i < y.rows; ++i)
        by_outputs(i, {y.row(i), y.columns}, {by + i * y.columns, y.columns});
    }
    const nb::object found = numbers(noted(x, [&] { return numpy_.attr("asarray")(answer[1](weights)); }));
    if (!fits(found, gradients.rows, gradients.columns)) {
      throw Error(
          ErrorCode::model,
          fmt::format("the gradient of model {} has shape {} for {}; expected ({}, {})", info_.name,
                      shape_text(found), counted(gradients.rows, "row"), gradients.rows, gradients.columns));
    }
    take(found, gradients);
  }

 private:
  void learn_outputs(const std::vector<double>& example) {
    const std::size_t inputs = info_.inputs;
    const std::vector<float> narrow(example.begin(), example.end());
    const RowsView row = info_.scalar == Scalar::float32
                             ? RowsView(MatrixView<const float>{narrow.data(), 1, inputs})
                             : RowsView(MatrixView<const double>{example.data(), 1, inputs});
    const nb::object answer = asked(row);
    const auto dimensions = nb::cast<std::size_t>(answer.attr("ndim"));
    info_.outputs = dimensions < 2 ? 1 : nb::cast<std::size_t>(answer.attr("shape")[1]);
    if (dimensions > 2 || info_.outputs == 0 || !fits(answer, 1, info_.outputs)) {
      throw Error(
          ErrorCode::model,
          fmt::format("model {} returned an array of shape {} for 1 row; expected (1,) or (1, outputs)",
                      info_.name, shape_text(answer)));
    }
    info_.example_rows = 1;
  }

  // What the function answers, an array of float or double.
  nb::object asked(RowsView x) const {
    return numbers(noted(x, [&] { return numpy_.attr("asarray")(function_(array_of(x))); }));
  }

  nb::object array_of(RowsView x) const {
    return x.scalar() == Scalar::float32 ? batch(x.as<float>()) : batch(x.as<double>());
  }

  // Runs Python, hears of Ctrl-C, and notes on what it raises where that came from.
  template <class Call>
  nb::object noted(RowsView x, const Call& call) const {
    try {
      nb::object answer = call();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return answer;
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_Exception) && nb::hasattr(error.value(), "add_note")) {
        error.value().attr("add_note")(
            fmt::format("raised by model {} on a batch of {} × {}", info_.name, x.rows(), info_.inputs));
      }
      throw;
    }
  }

  void take_answer(const nb::object& answer, MutableRowsView y) const {
    if (!fits(answer, y.rows, info_.outputs)) {
      throw Error(
          ErrorCode::model,
          fmt::format("model {} returned an array of shape {} for {}; expected {}({}, {})", info_.name,
                      shape_text(answer), counted(y.rows, "row"),
                      info_.outputs == 1 ? fmt::format("({},) or ", y.rows) : "", y.rows, info_.outputs));
    }
    take(answer, y);
  }

  nb::object numbers(nb::object answer) const {
    const nb::object type = answer.attr("dtype");
    const auto name = nb::cast<std::string>(type.attr("name"));
    const bool native = nb::cast<bool>(type.attr("isnative"));
    if (native && (name == "float64" || name == "float32")) {
      const nb::object flags = answer.attr("flags");
      if (nb::cast<bool>(flags.attr("c_contiguous")) && nb::cast<bool>(flags.attr("aligned"))) return answer;
      // A column, the field of a structured array and the like: a copy in one piece.
      return numpy_.attr("require")(answer, nb::none(), "CA");
    }
    const auto kind = nb::cast<std::string>(type.attr("kind"));
    if (std::string_view("biuf").find(kind) == std::string_view::npos) {
      throw Error(ErrorCode::model,
                  fmt::format("model {} returned an array of type {} and shape {}; expected numbers",
                              info_.name, name, shape_text(answer)));
    }
    return answer.attr("astype")("float64", "order"_a = "C");
  }

  // A view of an array that holds the batch: what the function does to it does not reach the caller's rows.
  template <class T>
  nb::object batch(MatrixView<const T> x) const {
    auto holding = std::find_if(buffers_.begin(), buffers_.end(),
                                [&](const Buffer& b) { return b.data.get() == x.data && !b.kept(); });
    if (holding == buffers_.end()) {
      holding = buffer(x.rows);
      std::memcpy(holding->data.get(), x.data, x.rows * x.columns * sizeof(T));
    }
    return holding->array[nb::slice(Py_ssize_t{0}, static_cast<Py_ssize_t>(x.rows))];
  }

  // An array of so many rows, or more, that nobody has.
  std::vector<Buffer>::iterator buffer(std::size_t rows) const {
    const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                    [&](const Buffer& b) { return b.free() && b.rows >= rows; });
    if (found != buffers_.end()) return found;
    // Too small, or kept by the function: those are its own now.
    std::erase_if(buffers_, [](const Buffer& b) { return b.free(); });
    if (buffers_.size() >= kMostBuffers) {
      const auto kept =
          std::find_if(buffers_.begin(), buffers_.end(), [](const Buffer& b) { return !b.lent(); });
      if (kept != buffers_.end()) buffers_.erase(kept);
    }
    Buffer fresh;
    fresh.rows = rows;
    const bool narrow = info_.scalar == Scalar::float32;
    fresh.array = numpy_.attr("empty")(nb::make_tuple(rows, info_.inputs), narrow ? "float32" : "float64");
    fresh.data = {nb::cast<nb::ndarray<nb::numpy, nb::c_contig>>(fresh.array).data(), [](void*) {}};
    return buffers_.insert(buffers_.end(), std::move(fresh));
  }

  static bool fits(const nb::object& array, std::size_t rows, std::size_t columns) {
    const auto dimensions = nb::cast<std::size_t>(array.attr("ndim"));
    if (dimensions == 0) return rows == 1 && columns == 1;
    const nb::object shape = array.attr("shape");
    if (nb::cast<std::size_t>(shape[0]) != rows) return false;
    if (dimensions == 1) return columns == 1;
    return dimensions == 2 && nb::cast<std::size_t>(shape[1]) == columns;
  }

  static void take(const nb::object& array, MutableRowsView to) {
    if (nb::cast<std::size_t>(array.attr("itemsize")) == sizeof(float)) {
      take_as<float>(array, to);
    } else {
      take_as<double>(array, to);
    }
  }

  template <class T>
  static void take_as(const nb::object& array, MutableRowsView to) {
    const auto from = nb::cast<nb::ndarray<const T, nb::numpy, nb::c_contig>>(array);
    std::copy_n(from.data(), to.rows * to.columns, to.data);
  }

  nb::object function_, gradient_, numpy_;
  ModelInfo info_;
  mutable std::vector<Buffer> buffers_;  // guarded by the GIL
};

}  // namespace

std::unique_ptr<Model> make_callable_model(nb::object function, CallableOptions options) {
  return std::make_unique<CallableModel>(std::move(function), std::move(options));
}

}  // namespace harmonia::python
