#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "model_document.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class JsonReader {
 public:
  JsonReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Document read() {
    Document document = value(0);
    skip_blanks();
    if (at_ < bytes_.size()) fail("the end of the file");
    return document;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    if (at_ >= bytes_.size()) {
      throw Error(ErrorCode::input, fmt::format("model {}: its JSON ends after {} bytes; expected {}", name_,
                                                bytes_.size(), expected));
    }
    throw Error(ErrorCode::input, fmt::format("model {}: its JSON has {} at byte {}; expected {}", name_,
                                              in_quotes(bytes_.substr(at_, 12)), at_, expected));
  }

  void skip_blanks() {
    const std::size_t next = bytes_.find_first_not_of(kBlanks, at_);
    at_ = next == std::string_view::npos ? bytes_.size() : next;
  }

  // The next byte that is no blank, or 0.
  char peek() {
    skip_blanks();
    return at_ < bytes_.size() ? bytes_[at_] : '\0';
  }

  bool take(std::string_view word) {
    if (!bytes_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Document value(int depth) {
    if (depth > kDocumentDepth) fail("less nesting");
    Document document;
    const char first = peek();
    if (first == '{') {
      object(document, depth);
    } else if (first == '[') {
      list(document, depth);
    } else if (first == '"') {
      document.kind = Document::Kind::text;
      document.text = text();
    } else if (const std::optional<double> found = number()) {
      document.kind = Document::Kind::number;
      document.number = *found;
    } else if (!take("null")) {
      fail("a value");
    }
    return document;
  }

  void object(Document& document, int depth) {
    document.kind = Document::Kind::object;
    ++at_;
    if (peek() == '}') {
      ++at_;
      return;
    }
    while (true) {
      if (peek() != '"') fail("a name in quotes");
      document.keys.push_back(text());
      if (peek() != ':') fail("':'");
      ++at_;
      document.items.push_back(value(depth + 1));
      if (!another('}')) return;
    }
  }

  void list(Document& document, int depth) {
    document.kind = Document::Kind::list;
    ++at_;
    if (peek() == ']') {
      ++at_;
      return;
    }
    while (true) {
      skip_blanks();
      if (const std::optional<double> found = number()) {
        document.numbers.push_back(*found);
      } else {
        document.items.push_back(value(depth + 1));
      }
      if (!another(']')) return;
    }
  }

  // Takes a comma, or the end of a list or object.
  bool another(char end) {
    const char next = peek();
    if (next != ',' && next != end) fail(end == ']' ? "',' or ']'" : "',' or '}'");
    ++at_;
    return next == ',';
  }

  std::optional<double> number() {
    if (take("true")) return 1;
    if (take("false")) return 0;
    if (take("NaN")) return std::numeric_limits<double>::quiet_NaN();
    if (take("Infinity")) return std::numeric_limits<double>::infinity();
    if (take("-Infinity")) return -std::numeric_limits<double>::infinity();
    const char first = at_ < bytes_.size() ? bytes_[at_] : '\0';
    if (first != '-' && (first < '0' || first > '9')) return std::nullopt;
    double found = 0;
    const char* begin = bytes_.data() + at_;
    const auto [end, error] = std::from_chars(begin, bytes_.data() + bytes_.size(), found);
    if (error == std::errc::invalid_argument) fail("a number");
    // Too large or too small for a double: read_number() tells which.
    if (error == std::errc::result_out_of_range) {
      found = read_number(std::string_view(begin, static_cast<std::size_t>(end - begin))).value_or(0);
    }
    at_ += static_cast<std::size_t>(end - begin);
    return found;
  }

  std::string text() {
    ++at_;
    std::string found;
    while (true) {
      const std::size_t stop = bytes_.find_first_of("\"\\", at_);
      if (stop == std::string_view::npos) {
        at_ = bytes_.size();
        fail("'\"'");
      }
      found += bytes_.substr(at_, stop - at_);
      at_ = stop + 1;
      if (bytes_[stop] == '"') return found;
      escape(found);
    }
  }

  void escape(std::string& found) {
    constexpr std::string_view kShort = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (at_ >= bytes_.size()) fail("an escape");
    const char kind = bytes_[at_];
    const std::size_t which = kShort.find(kind);
    if (which != std::string_view::npos) {
      ++at_;
      found += kMeant[which];
      return;
    }
    if (kind != 'u') fail("an escape");
    ++at_;
    unsigned code = four_digits();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!take("\\u")) fail("the second half of a character");
      const unsigned low = four_digits();
      if (low < 0xDC00 || low > 0xDFFF) fail("the second half of a character");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(found, code);
  }

  unsigned four_digits() {
    unsigned code = 0;
    const std::string_view digits = bytes_.substr(at_, 4);
    const char* end = digits.data() + digits.size();
    if (digits.size() != 4 || std::from_chars(digits.data(), end, code, 16).ptr != end) fail("four digits");
    at_ += 4;
    return code;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

const Document* Document::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

Document read_json_document(std::string_view bytes, const std::string& name) {
  return JsonReader(bytes, name).read();
}

}  // namespace harmonia
