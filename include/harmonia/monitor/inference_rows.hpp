#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harmonia/monitor/row_stream.hpp"

namespace harmonia {

/// What passed through a side-car since it was started.
struct InferenceCounts {
  std::uint64_t requests = 0;      ///< for the watched model, answered with success
  std::uint64_t unread = 0;        ///< of these, those whose rows could not be read
  std::uint64_t rows = 0;          ///< of the others, taken to be measured
  std::uint64_t dropped_rows = 0;  ///< rows that were not taken: too many waited to be measured
  std::uint64_t unanswered = 0;    ///< requests of any kind that the model server did not answer
  std::string last_unread;         ///< why, the last time
};

/// The rows in the body of an inference request (Open Inference Protocol, version 2), from position 0, each
/// with the request's id. json_bytes: where the JSON ends and binary data begins, if there is any.
/// Throws Error(model) that names the model for a body without rows of so many features that can be read.
StreamBatch read_inference_rows(std::string_view body, std::optional<std::size_t> json_bytes,
                                std::size_t features, const std::string& model);

}  // namespace harmonia
