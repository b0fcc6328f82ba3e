#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace harmonia {

/// Numbers of ONNX's types of elements that we tell apart.
enum class OnnxType : std::int64_t {
  undefined = 0,
  float32 = 1,
  int8 = 3,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
};

/// "float", "string", …: as ONNX calls it.
std::string onnx_type_name(OnnxType type);

/// A constant: an initializer, or an attribute.
struct OnnxTensor {
  std::string_view name;
  OnnxType type = OnnxType::undefined;
  std::vector<std::int64_t> dims;
  std::string_view raw;  ///< its elements as bytes; empty: they are in the next two
  std::vector<double> numbers;
  std::vector<std::string_view> strings;
  bool external = false;  ///< its elements are in another file
};

/// The elements of a constant of numbers; nothing if they are of another type, or not as many as dims says.
std::optional<std::vector<double>> tensor_numbers(const OnnxTensor& tensor);

/// An attribute of a node; what is not set is empty.
struct OnnxAttribute {
  std::optional<double> real;
  std::optional<std::int64_t> integer;
  std::string_view text;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string_view> strings;
  std::optional<OnnxTensor> tensor;
  bool graph = false;  ///< a graph, which is not read: the node is control flow
};

/// One operation.
struct OnnxNode {
  std::string_view operation, domain;
  std::vector<std::string_view> inputs, outputs;
  std::map<std::string_view, OnnxAttribute> attributes;

  /// The attribute, or an empty one.
  const OnnxAttribute& attribute(std::string_view name) const;
  /// Of the operators for classical machine learning, ai.onnx.ml.
  bool machine_learning() const { return domain == "ai.onnx.ml"; }
};

/// An input or output.
struct OnnxValue {
  enum class Kind : std::uint8_t { unknown, tensor, sequence, map, other };
  std::string_view name;
  Kind kind = Kind::unknown;
  OnnxType type = OnnxType::undefined;            ///< of a tensor's elements
  std::optional<std::vector<std::int64_t>> dims;  ///< −1: not fixed
};

/// The graph of an ONNX file, as views into its bytes.
struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs;  ///< without those that are initializers
  std::vector<OnnxValue> outputs;
  std::unordered_map<std::string_view, std::size_t> makers;  ///< name of a value → number of its node

  /// The node that makes this value; null: an input, an initializer, or nothing.
  const OnnxNode* maker(std::string_view value) const;
};

/// Whether a file that starts so is ONNX, by its first fields.
bool looks_like_onnx(std::string_view head);

/// Reads a graph; `bytes` must outlive it. `file` is for messages. Throws Error(input) for what is no ONNX
/// file.
OnnxGraph read_onnx_graph(std::string_view bytes, const std::string& file);

/// The file with this value as its only output, and without its ZipMap nodes.
std::string with_only_output(std::string_view bytes, std::string_view value, const std::string& file);

}  // namespace harmonia
