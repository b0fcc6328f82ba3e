#include "npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "number_text.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy itself writes headers of some hundred bytes; only structured types, which we do not read, need more.
constexpr std::size_t kLongestHeader = std::size_t{1} << 20;

[[noreturn]] void fail(const InputFile& file, const std::string& what) {
  throw Error(ErrorCode::input, fmt::format("{} {}", file.path(), what));
}

// Reads the Python dictionary of the header, of which only what NumPy writes is understood.
class HeaderParser {
 public:
  HeaderParser(const InputFile& file, std::string_view text) : file_(file), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        if (accept('[')) fail(file_, "holds a structured type; expected plain numbers");
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = shape();
        has_shape = true;
      } else {
        give_up();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size() || !has_descr || !has_order || !has_shape) give_up();
    return header;
  }

 private:
  [[noreturn]] void give_up() const {
    fail(file_, fmt::format("has a header that is not NumPy's: {}", in_quotes(text_)));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\0')) ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) give_up();
  }

  std::string string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) give_up();
    const std::string_view content = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(content);
  }

  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    give_up();
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> sizes;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::uint64_t size = 0;
      const char* const first = text_.data() + at_;
      const auto result = std::from_chars(first, text_.data() + text_.size(), size);
      if (result.ec == std::errc::result_out_of_range) fail(file_, "has a shape that is too large");
      if (result.ec != std::errc{}) give_up();
      at_ += static_cast<std::size_t>(result.ptr - first);
      // Python 2 wrote long integers as 3L.
      accept('L');
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  const InputFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(const InputFile& file) {
  std::array<char, 12> start{};
  const std::size_t count = file.read_at(0, start);
  const std::string_view bytes(start.data(), count);
  if (count == 0) fail(file, "is empty");
  if (!bytes.starts_with(kMagic.substr(0, count))) {
    fail(file, "is not an NPY file: it does not begin with \\x93NUMPY");
  }
  if (count < 10) fail(file, "ends within its header");
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(start[i])}; };
  const std::uint32_t major = byte(6);
  if (major < 1 || major > 3) {
    fail(file, fmt::format("has NPY version {}.{}; versions 1, 2 and 3 are known", major, byte(7)));
  }
  if (major > 1 && count < 12) fail(file, "ends within its header");
  const std::size_t begin = major == 1 ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8U | (major == 1 ? 0 : byte(10) << 16U | byte(11) << 24U);
  if (length > kLongestHeader)
    fail(file, fmt::format("has a header of {} bytes; expected at most 1 MiB", length));
  std::string text(length, '\0');
  if (file.read_at(begin, text) < length) fail(file, "ends within its header");
  NpyHeader header = HeaderParser(file, text).parse();
  header.offset = begin + length;
  return header;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  constexpr std::size_t kMost = 8;
  if (shape.size() > kMost) return fmt::format("of {} dimensions", shape.size());
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace harmonia
