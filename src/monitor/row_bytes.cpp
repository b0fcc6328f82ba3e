#include "row_bytes.hpp"

#include <cstring>
#include <optional>
#include <type_traits>

#include "harmonia/core/error.hpp"

namespace harmonia {
namespace {

class Writer {
 public:
  template <class T>
  void put(T number) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(static_cast<const char*>(static_cast<const void*>(&number)), sizeof number);
  }
  template <class T>
  void put(const std::optional<T>& number) {
    put(static_cast<char>(number.has_value()));
    put(number.value_or(T{}));
  }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view part = next(sizeof value);
    std::memcpy(&value, part.data(), part.size());
    return value;
  }
  template <class T>
  std::optional<T> optional() {
    const bool there = number<char>() != 0;
    const T value = number<T>();
    return there ? std::optional(value) : std::nullopt;
  }
  std::string text() { return std::string(next(number<std::uint64_t>())); }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view next(std::uint64_t size) {
    if (size > bytes_.size()) throw Error(ErrorCode::input, "a stored row is cut off");
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }

  std::string_view bytes_;
};

}  // namespace

std::string row_bytes(const KeptRow& row) {
  Writer out;
  out.put(row.partition);
  out.put(row.position);
  out.put(row.number);
  out.put(row.time);
  out.put(row.id);
  out.put(row.gamma);
  out.put(row.low);
  out.put(row.high);
  out.put(row.decided_class);
  out.put(std::uint64_t{row.region});
  for (const double value : row.values) out.put(value);
  if (row.stability) {
    out.put(row.stability->log_odds);
    out.put(row.stability->probability);
    out.put(row.stability->interval.low);
    out.put(row.stability->interval.high);
    out.put(static_cast<char>(row.stability->outside));
  }
  return out.take();
}

KeptRow read_row_bytes(std::string_view bytes, std::size_t values) {
  Reader in(bytes);
  KeptRow row;
  row.partition = in.text();
  row.position = in.number<std::uint64_t>();
  row.number = in.number<std::uint64_t>();
  row.time = in.number<Time>();
  row.id = in.text();
  row.gamma = in.number<double>();
  row.low = in.optional<double>();
  row.high = in.optional<double>();
  row.decided_class = in.optional<long long>();
  row.region = in.number<std::uint64_t>();
  while (row.values.size() < values) row.values.push_back(in.number<double>());
  // Rows of a monitor without a map end here.
  if (in.left() == 0) return row;
  RowStability& stability = row.stability.emplace();
  stability.log_odds = in.number<double>();
  stability.probability = in.number<double>();
  stability.interval.low = in.number<double>();
  stability.interval.high = in.number<double>();
  stability.outside = in.number<char>() != 0;
  if (in.left() > 0) throw Error(ErrorCode::input, "a stored row is too long");
  return row;
}

}  // namespace harmonia
