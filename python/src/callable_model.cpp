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

constexpr std::size_t kMostBuffers = 64;  // one a thread is enough unless the function keeps what it is given

std::string shape_text(const nb::object& array) {
  const nb::object shape = array.attr("shape");
  return nb::str(shape).c_str();
}

// An array that batches are copied into. The function may keep what it is given, in a cache or a traceback,
// so the memory is Python's and is used again only when nobody else has it.
struct Buffer {
  nb::object array;
  void* data = nullptr;
  std::size_t rows = 0;

  bool free() const { return Py_REFCNT(array.ptr()) == 1; }
};

class CallableModel final : public Model {
 public:
  CallableModel(nb::object function, CallableOptions options)
      : function_(std::move(function)),
        numpy_(nb::module_::import_("numpy")),
        info_(std::move(options.info)) {
    const std::size_t inputs = info_.inputs;
    nb::object answer;
    if (info_.scalar == Scalar::float32) {
      const std::vector<float> row(options.example.begin(), options.example.end());
      answer = ask(MatrixView<const float>{row.data(), 1, inputs});
    } else {
      answer = ask(MatrixView<const double>{options.example.data(), 1, inputs});
    }
    const auto dimensions = nb::cast<std::size_t>(answer.attr("ndim"));
    info_.outputs = dimensions < 2 ? 1 : nb::cast<std::size_t>(answer.attr("shape")[1]);
    if (dimensions > 2 || info_.outputs == 0 || !fits(answer, 1)) {
      throw Error(
          ErrorCode::model,
          fmt::format("model {} returned an array of shape {} for 1 row; expected (1,) or (1, outputs)",
                      info_.name, shape_text(answer)));
    }
    info_.example_rows = 1;
  }

  ~CallableModel() override {
    const nb::gil_scoped_acquire held;
    buffers_.clear();
    function_.reset();
    numpy_.reset();
  }
  CallableModel(const CallableModel&) = delete;
  CallableModel& operator=(const CallableModel&) = delete;

  const ModelInfo& info() const override { return info_; }

  // Points written where the function will find them need not be copied. Several threads would be lent the
  // same memory: until evaluate() is called, nothing tells that it is in use.
  void* batch_memory(std::size_t rows) const override {
    if (info_.reentrant) return nullptr;
    const nb::gil_scoped_acquire held;
    return buffer(rows)->data;
  }

  void evaluate(RowsView x, MutableRowsView y) const override {
    const nb::gil_scoped_acquire held;
    const nb::object answer = x.scalar() == Scalar::float32 ? ask(x.as<float>()) : ask(x.as<double>());
    if (!fits(answer, y.rows)) {
      throw Error(
          ErrorCode::model,
          fmt::format("model {} returned an array of shape {} for {}; expected {}({}, {})", info_.name,
                      shape_text(answer), counted(y.rows, "row"),
                      info_.outputs == 1 ? fmt::format("({},) or ", y.rows) : "", y.rows, info_.outputs));
    }
    if (nb::cast<std::size_t>(answer.attr("itemsize")) == sizeof(float)) {
      take<float>(answer, y);
    } else {
      take<double>(answer, y);
    }
  }

 private:
  // The function's answer as an array of float or double.
  template <class T>
  nb::object ask(MatrixView<const T> x) const {
    try {
      nb::object answer = function_(batch(x));
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return numbers(numpy_.attr("asarray")(answer));
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_Exception) && nb::hasattr(error.value(), "add_note")) {
        error.value().attr("add_note")(
            fmt::format("raised by model {} on a batch of {} × {}", info_.name, x.rows, x.columns));
      }
      throw;
    }
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
                                [&](const Buffer& b) { return b.data == x.data && b.free(); });
    if (holding == buffers_.end()) {
      holding = buffer(x.rows);
      std::memcpy(holding->data, x.data, x.rows * x.columns * sizeof(T));
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
    if (buffers_.size() >= kMostBuffers) buffers_.erase(buffers_.begin());
    Buffer fresh;
    fresh.rows = rows;
    const bool narrow = info_.scalar == Scalar::float32;
    fresh.array = numpy_.attr("empty")(nb::make_tuple(rows, info_.inputs), narrow ? "float32" : "float64");
    fresh.data = nb::cast<nb::ndarray<nb::numpy, nb::c_contig>>(fresh.array).data();
    return buffers_.insert(buffers_.end(), std::move(fresh));
  }

  bool fits(const nb::object& answer, std::size_t rows) const {
    const auto dimensions = nb::cast<std::size_t>(answer.attr("ndim"));
    if (dimensions == 0) return rows == 1 && info_.outputs == 1;
    const nb::object shape = answer.attr("shape");
    if (nb::cast<std::size_t>(shape[0]) != rows) return false;
    if (dimensions == 1) return info_.outputs == 1;
    return dimensions == 2 && nb::cast<std::size_t>(shape[1]) == info_.outputs;
  }

  template <class T>
  static void take(const nb::object& answer, MutableRowsView y) {
    const auto from = nb::cast<nb::ndarray<const T, nb::numpy, nb::c_contig>>(answer);
    std::copy_n(from.data(), y.rows * y.columns, y.data);
  }

  nb::object function_, numpy_;
  ModelInfo info_;
  mutable std::vector<Buffer> buffers_;  // guarded by the GIL
};

}  // namespace

std::unique_ptr<Model> make_callable_model(nb::object function, CallableOptions options) {
  return std::make_unique<CallableModel>(std::move(function), std::move(options));
}

}  // namespace harmonia::python
