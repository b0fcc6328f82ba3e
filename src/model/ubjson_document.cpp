#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "model_document.hpp"

namespace harmonia {
namespace {

// Bytes of a number of this type; 0: it is no number.
std::size_t width_of(char type) {
  switch (type) {
    case 'i':
    case 'U':
      return 1;
    case 'I':
      return 2;
    case 'l':
    case 'd':
      return 4;
    case 'L':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

// A number of this type from its bits.
double number_of(char type, std::uint64_t bits) {
  switch (type) {
    case 'i':
      return static_cast<std::int8_t>(bits);
    case 'U':
      return static_cast<std::uint8_t>(bits);
    case 'I':
      return static_cast<std::int16_t>(bits);
    case 'l':
      return static_cast<std::int32_t>(bits);
    case 'L':
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case 'd':
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

class UbjsonReader {
 public:
  UbjsonReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Document read() {
    Document document = value(marker(), 0);
    while (at_ < bytes_.size() && bytes_[at_] == 'N') ++at_;
    if (at_ < bytes_.size()) fail("the end of the file");
    return document;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    if (at_ >= bytes_.size()) {
      throw Error(ErrorCode::input, fmt::format("model {}: its UBJSON ends after {} bytes; expected {}",
                                                name_, bytes_.size(), expected));
    }
    throw Error(ErrorCode::input, fmt::format("model {}: its UBJSON has {} at byte {}; expected {}", name_,
                                              in_quotes(bytes_.substr(at_, 1)), at_, expected));
  }

  // The next byte that says what follows.
  char marker() {
    while (at_ < bytes_.size() && bytes_[at_] == 'N') ++at_;
    if (at_ >= bytes_.size()) fail("a value");
    return bytes_[at_++];
  }

  std::uint64_t bits(std::size_t width) {
    if (bytes_.size() - at_ < width) {
      at_ = bytes_.size();
      fail("a number");
    }
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < width; ++i) found = found << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return found;
  }

  // A length, of at most what is left of the file: every item takes a byte at least.
  std::size_t length(std::size_t item_bytes = 1) {
    const char type = marker();
    const std::size_t width = width_of(type);
    if (width == 0 || type == 'd' || type == 'D') {
      --at_;
      fail("a length");
    }
    const double found = number_of(type, bits(width));
    const std::size_t most = (bytes_.size() - at_) / item_bytes;
    if (found < 0 || found > static_cast<double>(most)) {
      throw Error(ErrorCode::input,
                  fmt::format("model {}: its UBJSON announces {} items of {} bytes at byte {}; the file has "
                              "{} bytes",
                              name_, found, item_bytes, at_, bytes_.size()));
    }
    return static_cast<std::size_t>(found);
  }

  std::string text() {
    const std::size_t size = length();
    at_ += size;
    return std::string(bytes_.substr(at_ - size, size));
  }

  std::optional<double> number(char type) {
    if (type == 'T') return 1;
    if (type == 'F') return 0;
    const std::size_t width = width_of(type);
    if (width == 0) return std::nullopt;
    return number_of(type, bits(width));
  }

  Document value(char type, int depth) {
    if (depth > kDocumentDepth) fail("less nesting");
    Document document;
    if (type == '{') {
      object(document, depth);
    } else if (type == '[') {
      list(document, depth);
    } else if (type == 'S') {
      document.kind = Document::Kind::text;
      document.text = text();
    } else if (type == 'C') {
      document.kind = Document::Kind::text;
      document.text = std::string(1, static_cast<char>(bits(1)));
    } else if (const std::optional<double> found = number(type)) {
      document.kind = Document::Kind::number;
      document.number = *found;
    } else if (type != 'Z') {
      --at_;
      fail("a value");
    }
    return document;
  }

  void object(Document& document, int depth) {
    document.kind = Document::Kind::object;
    while (true) {
      if (marker() == '}') return;
      --at_;
      document.keys.push_back(text());
      document.items.push_back(value(marker(), depth + 1));
    }
  }

  void list(Document& document, int depth) {
    document.kind = Document::Kind::list;
    char next = marker();
    if (next == '$') {
      const char type = marker();
      if (width_of(type) == 0) {
        --at_;
        fail("a type of numbers");
      }
      if (marker() != '#') {
        --at_;
        fail("'#'");
      }
      typed(document, type);
    } else if (next == '#') {
      const std::size_t count = length();
      for (std::size_t i = 0; i < count; ++i) item(document, marker(), depth);
    } else {
      for (; next != ']'; next = marker()) item(document, next, depth);
    }
  }

  void typed(Document& document, char type) {
    const std::size_t width = width_of(type), count = length(width);
    document.numbers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) document.numbers.push_back(number_of(type, bits(width)));
  }

  void item(Document& document, char type, int depth) {
    if (const std::optional<double> found = number(type)) {
      document.numbers.push_back(*found);
    } else {
      document.items.push_back(value(type, depth + 1));
    }
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

Document read_ubjson_document(std::string_view bytes, const std::string& name) {
  return UbjsonReader(bytes, name).read();
}

}  // namespace harmonia
