#include <string>

#include "http_text.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace harmonia;
  const std::string text(fuzz::text_of(data, size));
  HttpRequest request;
  request.headers = {{"host", text}, {"cookie", text}, {"content-type", text}};
  const std::string name = cookie_name(request);
  fuzz::require(name.starts_with("harmonia_") && name.find_first_of("=; \r\n", 0) == std::string::npos);
  fuzz::require(host_name(request).size() <= text.size());
  fuzz::require(media_type(request).find(';') == std::string::npos);
  fuzz::require(cookie_of(request, name).size() <= text.size());
  fuzz::require(form_value(text, "token").size() <= text.size());
  // What is written by a browser is read back.
  std::string posted = "other=1&token=";
  constexpr const char* kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    posted += '%';
    posted += kDigits[byte >> 4];
    posted += kDigits[byte & 15];
  }
  fuzz::require(form_value(posted + "&x=y", "token") == text);
  return 0;
}
