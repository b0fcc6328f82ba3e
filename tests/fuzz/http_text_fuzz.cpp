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
  // What is read of a head holds nothing that would begin another line, and is read again as it was.
  const auto fields = read_fields(text);
  if (!fields) return 0;
  std::string head = "GET / HTTP/1.1\r\n";
  for (const auto& [field, value] : *fields) {
    fuzz::require(!field.empty() && field.find_first_of(": \t\r\n") == std::string::npos);
    fuzz::require(value.find_first_of("\r\n") == std::string::npos);
    head += field + ": " + value + "\r\n";
  }
  fuzz::require(read_fields(head + "\r\n") == fields);
  fuzz::require(framing_fault(*fields, true).empty() || !framing_fault(*fields, false).empty());
  return 0;
}
