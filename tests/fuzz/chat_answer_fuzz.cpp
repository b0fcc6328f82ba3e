// Whatever an endpoint sends is an answer, a list of embeddings, or refused in a line.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../src/text/openai_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "memory_file.hpp"

using harmonia::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body = harmonia::fuzz::text_of(data + 1, size - 1);
  const harmonia::ChatAnswer answer = harmonia::read_chat_answer(body);
  const bool failed = answer.outcome == harmonia::ChatOutcome::failed;
  require(failed || answer.outcome == harmonia::ChatOutcome::answered ||
          answer.outcome == harmonia::ChatOutcome::empty);
  require(answer.text == harmonia::repair_utf8(answer.text));
  require(answer.reason.find('\n') == std::string::npos);
  require(answer.reason.empty() == (answer.outcome == harmonia::ChatOutcome::answered));
  // The first byte says how many texts were sent.
  const std::size_t count = data[0] % 4;
  try {
    const auto rows = harmonia::read_embeddings(body, count, "endpoint");
    require(rows.rows() == count);
    for (std::size_t i = 0; i < rows.rows() * rows.columns(); ++i) require(std::isfinite(rows.row(0)[i]));
  } catch (const harmonia::Error& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  return 0;
}
