// Whatever a client sends to be inferred is read or refused, and what is read has the width that was asked
// for.
#include <cmath>
#include <optional>
#include <string_view>

#include "../../src/model/inference_protocol.hpp"
#include "harmonia/core/error.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  if (size < 2) return 0;
  // The first two bytes choose the width, and where the JSON ends.
  const std::size_t width = 1 + data[0] % 4;
  std::optional<std::size_t> json_bytes;
  if (data[0] >= 128) json_bytes = data[1];
  const std::string_view body = fuzz::text_of(data + 2, size - 2);
  try {
    const InferenceRows found = parse_inference_request(body, json_bytes, width, "m");
    fuzz::require(found.rows > 0 && found.values.size() == found.rows * width);
    for (const double value : found.values) fuzz::require(!std::isinf(value));
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::model);
  }
  return 0;
}
