#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../../src/model/wire_format.hpp"
#include "harmonia/core/random.hpp"

/// Parts of an ONNX file in the wire format; the numbers are fields of onnx.proto.
namespace harmonia::test::onnx {

inline std::string integer_attribute(const std::string& name, std::uint64_t value) {
  return wire_text(5, wire_text(1, name) + wire_integer(3, value) + wire_integer(20, 2));
}

inline std::string real_attribute(const std::string& name, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return wire_text(
      5, wire_text(1, name) + std::string(1, static_cast<char>(2 << 3 | 5)) + bytes + wire_integer(20, 1));
}

inline std::string node(const std::string& operation, const std::vector<std::string>& inputs,
                        const std::string& output, const std::string& attributes = "") {
  std::string text;
  for (const std::string& input : inputs) text += wire_text(1, input);
  return wire_text(1, text + wire_text(2, output) + wire_text(4, operation) + attributes);
}

inline std::string shape_of(const std::vector<std::uint64_t>& dims) {
  std::string text;
  for (const std::uint64_t dim : dims) text += wire_integer(1, dim);
  return text;
}

template <class T>
inline std::string tensor(const std::string& name, const std::vector<std::uint64_t>& dims,
                          const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::uint64_t type = std::is_same_v<T, float> ? 1 : std::is_same_v<T, double> ? 11 : 7;
  return wire_text(5, shape_of(dims) + wire_integer(2, type) + wire_text(8, name) + wire_text(9, bytes));
}

inline std::string value(std::uint32_t field, const std::string& name, const std::vector<std::uint64_t>& dims,
                         std::uint64_t type = 1) {
  std::string shape = wire_text(1, wire_text(2, "N"));
  for (const std::uint64_t dim : dims) shape += wire_text(1, wire_integer(1, dim));
  return wire_text(
      field, wire_text(1, name) + wire_text(2, wire_text(1, wire_integer(1, type) + wire_text(2, shape))));
}

/// Version 8 of the format, version 13 of the operators.
inline std::string model(const std::string& graph) {
  return wire_integer(1, 8) + wire_text(7, graph) + wire_text(8, wire_integer(2, 13));
}

inline std::vector<float> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  normals({.seed = seed}, values);
  return values;
}

inline std::string weights(const std::string& name, std::uint64_t rows, std::uint64_t columns,
                           std::uint64_t seed) {
  return tensor(name, {rows, columns}, drawn(rows * columns, seed));
}

}  // namespace harmonia::test::onnx
