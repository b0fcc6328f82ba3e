#include "onnx_caller.hpp"

#include <algorithm>
#include <array>

namespace harmonia {
namespace {

template <class T>
constexpr OnnxType kType = OnnxType::undefined;
template <>
constexpr OnnxType kType<float> = OnnxType::float32;
template <>
constexpr OnnxType kType<double> = OnnxType::float64;
template <>
constexpr OnnxType kType<std::int32_t> = OnnxType::int32;
template <>
constexpr OnnxType kType<std::int64_t> = OnnxType::int64;
template <>
constexpr OnnxType kType<bool> = OnnxType::boolean;

std::vector<std::int64_t> of_rows(std::vector<std::int64_t> shape, std::size_t rows) {
  shape.front() = static_cast<std::int64_t>(rows);
  return shape;
}

template <class T>
OnnxNumbers input_of(const OnnxCaller& caller, const T* x, const std::vector<std::int64_t>& shape) {
  return {caller.input, kType<T>, const_cast<T*>(x), shape};
}

template <class T>
void run(const OnnxCaller& caller, const OnnxNumbers& in, T* answers, std::size_t rows) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows)};
  shape.insert(shape.end(), caller.answer_shape.begin(), caller.answer_shape.end());
  caller.session->run({&in, 1}, {caller.output, kType<T>, answers, shape});
}

template <class T>
void run_and_copy(const OnnxCaller& caller, const OnnxNumbers& in, std::size_t rows, double* y,
                  std::size_t wanted) {
  // Kept from call to call; an array, because a vector of bool has no elements.
  thread_local std::unique_ptr<T[]> answers;
  thread_local std::size_t capacity = 0;
  if (const std::size_t size = rows * caller.outputs; capacity < size) {
    answers = std::make_unique<T[]>(size);
    capacity = size;
  }
  run(caller, in, answers.get(), rows);
  std::transform(answers.get(), answers.get() + wanted * caller.outputs, y,
                 [](T answer) { return static_cast<double>(answer); });
}

// Runs `rows` rows and keeps the first `wanted` answers.
template <class T>
void call(const OnnxCaller& caller, const T* x, std::size_t rows, double* y, std::size_t wanted) {
  const std::vector<std::int64_t> shape = of_rows(caller.input_shape, rows);
  const OnnxNumbers in = input_of(caller, x, shape);
  switch (caller.type) {
    case OnnxType::float64:
      if (wanted == rows) return run(caller, in, y, rows);
      return run_and_copy<double>(caller, in, rows, y, wanted);
    case OnnxType::float32:
      return run_and_copy<float>(caller, in, rows, y, wanted);
    case OnnxType::int32:
      return run_and_copy<std::int32_t>(caller, in, rows, y, wanted);
    case OnnxType::int64:
      return run_and_copy<std::int64_t>(caller, in, rows, y, wanted);
    default:
      return run_and_copy<bool>(caller, in, rows, y, wanted);
  }
}

template <class T>
void evaluate_as(const OnnxCaller& caller, MatrixView<const T> x, MutableRowsView y) {
  const std::size_t fixed = caller.fixed_batch();
  if (fixed == 0) {
    call(caller, x.data, x.rows, y.data, x.rows);
    return;
  }
  thread_local std::vector<T> filled;
  for (std::size_t i = 0; i < x.rows; i += fixed) {
    const std::size_t rows = std::min(fixed, x.rows - i);
    const T* data = x.row(i);
    if (rows < fixed) {
      filled.assign(data, data + rows * x.columns);
      for (std::size_t j = rows; j < fixed; ++j) {
        filled.insert(filled.end(), x.row(x.rows - 1), x.row(x.rows - 1) + x.columns);
      }
      data = filled.data();
    }
    call(caller, data, fixed, y.row(i), rows);
  }
}

template <class T>
std::vector<std::int64_t> shape_of(const OnnxCaller& caller, std::size_t rows) {
  const std::vector<std::int64_t> shape = of_rows(caller.input_shape, rows);
  std::size_t count = 1;
  for (const std::int64_t side : shape) count *= static_cast<std::size_t>(side);
  const std::vector<T> zeros(count);
  return caller.session->answer_shape(std::array{input_of(caller, zeros.data(), shape)}, caller.output,
                                      "on a row of zeros");
}

}  // namespace

void OnnxCaller::evaluate(RowsView x, MutableRowsView y) const {
  x.scalar() == Scalar::float32 ? evaluate_as(*this, x.as<float>(), y)
                                : evaluate_as(*this, x.as<double>(), y);
}

std::vector<std::int64_t> OnnxCaller::shape_of_zeros(std::size_t rows, Scalar scalar) const {
  return scalar == Scalar::float32 ? shape_of<float>(*this, rows) : shape_of<double>(*this, rows);
}

}  // namespace harmonia
