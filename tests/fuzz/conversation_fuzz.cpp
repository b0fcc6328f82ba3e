// Whatever clients and endpoints send: a call has words to vary or is refused in a line, an answer that is
// added to stays JSON, and a stream is put together the same however it is cut.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../../src/text/conversation_json.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/text/conversation_gamma.hpp"
#include "memory_file.hpp"

using harmonia::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string body(harmonia::fuzz::text_of(data + 1, size - 1));
  try {
    const harmonia::ConversationCall call(body);
    require(!call.question().empty());
    const harmonia::ConversationCall varied(call.with(call.question() + "!", 1, 100));
    require(varied.question() == call.question() + "!");
  } catch (const harmonia::Error& error) {
    require(std::string(error.what()).find('\n') == std::string::npos);
  }
  if (const auto longer = harmonia::with_member(body, "harmonia", "{}"))
    require(nlohmann::json::parse(*longer).contains("harmonia"));
  harmonia::read_chat_reply(body);
  harmonia::StreamedReply whole, cut;
  whole.add(body);
  const std::size_t piece = 1 + data[0];
  for (std::size_t first = 0; first < body.size(); first += piece)
    cut.add(std::string_view(body).substr(first, piece));
  require(whole.reply().text == cut.reply().text && whole.reply().id == cut.reply().id);
  return 0;
}
