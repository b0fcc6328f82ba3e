#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harmonia/core/rows.hpp"

namespace harmonia::bench {

/// ONNX Runtime as a user would call it.
class Runtime {
 public:
  /// A row has the shape `row_shape`; empty: it is a list of features.
  Runtime(const std::string& path, int own_threads, std::vector<std::int64_t> row_shape = {})
      : row_shape_(std::move(row_shape)) {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(own_threads);
    options.SetInterOpNumThreads(1);
    session_ = Ort::Session(environment_, path.c_str(), options);
    const Ort::AllocatorWithDefaultOptions allocator;
    input_ = session_.GetInputNameAllocated(0, allocator).get();
    output_ = session_.GetOutputNameAllocated(0, allocator).get();
  }

  /// Answers rows × outputs numbers, in place.
  void run(MatrixView<float> x, MatrixView<float> y) {
    std::vector<std::int64_t> in_shape{static_cast<std::int64_t>(x.rows)};
    if (row_shape_.empty()) in_shape.push_back(static_cast<std::int64_t>(x.columns));
    in_shape.insert(in_shape.end(), row_shape_.begin(), row_shape_.end());
    const std::int64_t out_shape[] = {static_cast<std::int64_t>(y.rows),
                                      static_cast<std::int64_t>(y.columns)};
    const auto in = Ort::Value::CreateTensor<float>(memory_, x.data, x.rows * x.columns, in_shape.data(),
                                                    in_shape.size());
    auto out = Ort::Value::CreateTensor<float>(memory_, y.data, y.rows * y.columns, out_shape, 2);
    const char* const input = input_.c_str();
    const char* const output = output_.c_str();
    session_.Run(Ort::RunOptions(nullptr), &input, &in, 1, &output, &out, 1);
  }

 private:
  std::vector<std::int64_t> row_shape_;
  Ort::Env environment_{ORT_LOGGING_LEVEL_FATAL, "bench"};
  Ort::Session session_{nullptr};
  Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::string input_, output_;
};

}  // namespace harmonia::bench
