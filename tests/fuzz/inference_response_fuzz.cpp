// Whatever a server sends is read or refused, never more than that.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../../src/model/inference_protocol.hpp"
#include "harmonia/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses how many rows were asked and by which name.
  const std::size_t rows = data[0] % 8;
  const char* name = (data[0] & 0x80) != 0 ? "y" : "";
  const std::string_view body(static_cast<const char*>(static_cast<const void*>(data + 1)), size - 1);
  try {
    const auto answer = harmonia::parse_inference_response(body, rows, name, "m");
    if (answer.columns == 0 || answer.values.size() != rows * answer.columns) std::abort();
  } catch (const harmonia::Error&) {
  }
  try {
    auto input = harmonia::parse_model_metadata(body, "m").input;
    if (harmonia::resolve_dimensions(input, 12) && harmonia::width_of(input) != 12) std::abort();
  } catch (const harmonia::Error&) {
  }
  harmonia::parse_error_text(body);
  return 0;
}
