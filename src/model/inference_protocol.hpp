#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harmonia/core/rows.hpp"

/// The messages of the Open Inference Protocol, version 2, as text. No function here talks to anyone; what
/// cannot be used is an Error(model) whose message begins with "model NAME".
namespace harmonia {

/// The one input that a model takes.
struct TensorInput {
  std::string name = "input-0";
  Scalar scalar = Scalar::float64;
  /// Without the first, which counts rows; −1: left to the data.
  std::vector<std::int64_t> dimensions{-1};
  bool one_row = false;  ///< the model was made for one row a request
};

/// What a server says of a model.
struct ModelMetadata {
  TensorInput input;                 ///< as it stands if the server says nothing of inputs
  std::vector<std::string> outputs;  ///< names; empty if the server does not say
};

/// Reads the answer to GET /v2/models/NAME. Throws if the model does not take exactly one input of FP32 or
/// FP64 whose shape begins with the number of rows and leaves at most one other number open.
ModelMetadata parse_model_metadata(std::string_view body, const std::string& model);

/// Puts `width` values a row into the dimensions that the input leaves to the data. False: they do not fit.
bool resolve_dimensions(TensorInput& input, std::size_t width);

/// The product of the dimensions; 0 while one is left to the data.
std::size_t width_of(const TensorInput& input);

/// The body of POST …/infer. NaN is null, since JSON has no other word for it. Throws for an infinite value.
std::string format_inference_request(RowsView x, const TensorInput& input, const std::string& output,
                                     const std::string& model);

/// What a model answered: row-major, columns values a row.
struct InferenceAnswer {
  std::size_t columns = 0;
  std::vector<double> values;
};

/// Reads the answer to `rows` rows: the output of that name, or the first if the name is empty. null is NaN.
InferenceAnswer parse_inference_response(std::string_view body, std::size_t rows, const std::string& output,
                                         const std::string& model);

/// The rows that a client sends: row-major, as many values a row as were expected.
struct InferenceRows {
  std::size_t rows = 0;
  std::vector<double> values;  ///< in the precision of the request's datatype; NaN is a missing value
  std::string id;              ///< of the request; empty: it has none
};

/// Reads a body of POST …/infer of one input, [rows, …] with `width` values a row: a list of numbers, flat or
/// nested, or the bytes of the binary tensor extension. null is NaN. json_bytes: where the JSON ends and such
/// bytes begin, as the header Inference-Header-Content-Length says; none: the body is JSON from end to end.
InferenceRows parse_inference_request(std::string_view body, std::optional<std::size_t> json_bytes,
                                      std::size_t width, const std::string& model);

/// What a server says is wrong: the text under "error" (or "detail", or "message"), or the beginning of the
/// body.
std::string parse_error_text(std::string_view body);

}  // namespace harmonia
