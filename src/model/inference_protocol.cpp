#include "inference_protocol.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLongestDimension = std::int64_t{1} << 40;

[[noreturn]] void fail(const std::string& model, const std::string& what) {
  throw Error(ErrorCode::model, fmt::format("model {}: {}", model, what));
}

// A member of that name, or null.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

// Any value in a message. Lists and objects within lists are not written out: a server may nest them deeper
// than the stack is long.
std::string text_of(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_object()) return "an object";
  if (std::ranges::any_of(value, [](const Json& item) { return item.is_structured(); }))
    return "a nested list";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string names_of(const Json& tensors) {
  std::vector<std::string> names;
  for (const Json& tensor : tensors) names.push_back(text_of(member(tensor, "name")));
  return sentence(fmt::format("{}", fmt::join(names, ", ")));
}

Json parse_object(std::string_view body, const std::string& model, const std::string& what) {
  Json json = Json::parse(body.begin(), body.end(), nullptr, false);
  if (json.is_discarded()) {
    fail(model, body.empty() ? fmt::format("{} is empty; expected JSON", what)
                             : fmt::format("{} is not JSON: '{}'", what, printable(body)));
  }
  if (!json.is_object()) fail(model, fmt::format("{} is {}; expected a JSON object", what, text_of(json)));
  return json;
}

// The numbers of a shape; nothing if it is no list of whole numbers >= lowest.
std::vector<std::int64_t> dimensions_of(const Json& shape, std::int64_t lowest) {
  std::vector<std::int64_t> dimensions;
  if (!shape.is_array()) return {};
  for (const Json& value : shape) {
    if (!value.is_number_integer()) return {};
    // A length beyond 2^63 wraps to a negative number here and is refused with the others.
    const auto dimension = value.get<std::int64_t>();
    if (dimension < lowest || dimension > kLongestDimension) return {};
    dimensions.push_back(dimension);
  }
  return dimensions;
}

TensorInput read_input(const Json& tensor, const std::string& model) {
  const Json& name = member(tensor, "name");
  if (!name.is_string()) fail(model, fmt::format("its input's name is {}; expected a text", text_of(name)));
  TensorInput input;
  input.name = name.get<std::string>();
  const std::string datatype = text_of(member(tensor, "datatype"));
  if (datatype != "FP32" && datatype != "FP64") {
    fail(model, fmt::format("input '{}' is {}; expected FP32 or FP64", printable(input.name), datatype));
  }
  input.scalar = datatype == "FP32" ? Scalar::float32 : Scalar::float64;
  const Json& shape = member(tensor, "shape");
  input.dimensions = dimensions_of(shape, -1);
  // A single fixed number is one row's width, with no place for the number of rows.
  const bool no_rows = input.dimensions.size() == 1 && input.dimensions[0] != -1;
  const bool no_values = std::ranges::find(input.dimensions, 0) != input.dimensions.end();
  const bool too_open = std::ranges::count(input.dimensions, -1) > 2;  // the rows and one other
  if (input.dimensions.empty() || no_rows || no_values || too_open) {
    fail(model, fmt::format("input '{}' has shape {}; expected [-1, N, …], rows first", printable(input.name),
                            text_of(shape)));
  }
  input.one_row = input.dimensions[0] == 1;
  input.dimensions.erase(input.dimensions.begin());
  return input;
}

template <class T>
void append_values(std::string& text, MatrixView<const T> x, const std::string& model) {
  for (std::size_t i = 0; i < x.rows * x.columns; ++i) {
    if (i > 0) text += ',';
    const T value = x.data[i];
    if (std::isinf(value)) {
      fail(model,
           fmt::format("row {} holds {}; expected a number that JSON can carry", i / x.columns, value));
    }
    if (std::isnan(value)) {
      text += "null";
    } else {
      append_number(text, value);
    }
  }
}

const Json& find_output(const Json& outputs, const std::string& name, const std::string& model) {
  if (name.empty()) return outputs.front();
  for (const Json& output : outputs) {
    const Json& found = member(output, "name");
    if (found.is_string() && found.get_ref<const std::string&>() == name) return output;
  }
  fail(model, fmt::format("answered no output '{}'; it answered {}", printable(name), names_of(outputs)));
}

// Who wrote a tensor, for messages.
struct Writer {
  const std::string& model;
  const char* message;  // "its answer"
};

// Appends the numbers of `data`, flat or nested `depth` deep at most.
void flatten(const Json& data, std::size_t depth, bool single, std::vector<double>& values,
             const Writer& writer) {
  const auto& [model, message] = writer;
  for (const Json& item : data) {
    if (item.is_array()) {
      if (depth <= 1) fail(model, fmt::format("{}'s data is nested deeper than its shape", message));
      flatten(item, depth - 1, single, values, writer);
    } else if (item.is_number()) {
      const auto value = item.get<double>();
      // However many digits a server writes, an FP32 output was a float.
      values.push_back(single ? static_cast<double>(static_cast<float>(value)) : value);
    } else if (item.is_boolean()) {
      values.push_back(item.get<bool>() ? 1 : 0);
    } else if (item.is_null()) {
      values.push_back(std::numeric_limits<double>::quiet_NaN());
    } else {
      fail(model,
           fmt::format("{} holds {}; expected numbers", message,
                       item.is_string() ? fmt::format("the text '{}'", text_of(item)) : text_of(item)));
    }
  }
}

// The product of the dimensions; none if there are none, or it is larger than a number can be.
std::optional<std::size_t> product_of(const std::vector<std::int64_t>& dimensions) {
  if (dimensions.empty()) return std::nullopt;
  std::size_t product = 1;
  for (const std::int64_t dimension : dimensions) {
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(dimension), &product)) return std::nullopt;
  }
  return product;
}

std::string datatype_of(const Json& tensor, const Writer& writer) {
  constexpr std::array datatypes{"BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16",
                                 "INT32", "INT64", "FP16",   "FP32",   "FP64",   "BF16"};
  std::string datatype = text_of(member(tensor, "datatype"));
  if (std::ranges::find(datatypes, datatype) == datatypes.end()) {
    fail(writer.model, fmt::format("{} is of datatype {}; expected numbers", writer.message, datatype));
  }
  return datatype;
}

// The numbers of a tensor's list, as many as its shape says.
std::vector<double> list_of(const Json& tensor, const std::vector<std::int64_t>& dimensions,
                            const std::string& datatype, const Writer& writer) {
  const auto& [model, message] = writer;
  const Json& data = member(tensor, "data");
  if (!data.is_array()) fail(model, fmt::format("{}'s data is {}; expected a list", message, text_of(data)));
  std::vector<double> values;
  flatten(data, dimensions.size(), datatype == "FP32", values, writer);
  const std::optional<std::size_t> expected = product_of(dimensions);
  if (expected != values.size()) {
    fail(model, fmt::format("{} holds {} values; its shape {} expects {}", message, values.size(),
                            text_of(member(tensor, "shape")),
                            expected ? std::to_string(*expected) : "more than fit"));
  }
  return values;
}

// Numbers of type T one after another, the lowest byte first.
template <class T>
std::vector<double> numbers_of(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

struct BinaryType {
  std::string_view name;
  std::size_t size;
  std::vector<double> (*read)(std::string_view bytes);
};

template <class T>
constexpr BinaryType binary_type(std::string_view name) {
  return {name, sizeof(T), numbers_of<T>};
}

constexpr std::array kBinaryTypes{binary_type<float>("FP32"),           binary_type<double>("FP64"),
                                  binary_type<std::int8_t>("INT8"),     binary_type<std::int16_t>("INT16"),
                                  binary_type<std::int32_t>("INT32"),   binary_type<std::int64_t>("INT64"),
                                  binary_type<std::uint8_t>("UINT8"),   binary_type<std::uint16_t>("UINT16"),
                                  binary_type<std::uint32_t>("UINT32"), binary_type<std::uint64_t>("UINT64"),
                                  binary_type<std::uint8_t>("BOOL")};

// The numbers of a tensor that was sent as bytes.
std::vector<double> numbers_in(std::string_view bytes, std::size_t count, const std::string& datatype,
                               const Writer& writer) {
  const auto& [model, message] = writer;
  const auto type = std::ranges::find(kBinaryTypes, datatype, &BinaryType::name);
  if (type == kBinaryTypes.end())
    fail(model, fmt::format("{} is {} in bytes; expected FP32, FP64 or whole numbers", message, datatype));
  if (bytes.size() % type->size != 0 || bytes.size() / type->size != count) {
    fail(model, fmt::format("{} has {} bytes of data; expected {} of {}", message, bytes.size(),
                            counted(count, "value"), datatype));
  }
  return type->read(bytes);
}

}  // namespace

ModelMetadata parse_model_metadata(std::string_view body, const std::string& model) {
  const Json json = parse_object(body, model, "its metadata");
  ModelMetadata metadata;
  const Json& inputs = member(json, "inputs");
  if (inputs.is_array() && !inputs.empty()) {
    if (inputs.size() > 1) {
      fail(model, fmt::format("takes {} inputs ({}); expected one", inputs.size(), names_of(inputs)));
    }
    metadata.input = read_input(inputs.front(), model);
  } else if (!inputs.is_null() && !inputs.is_array()) {
    fail(model, fmt::format("its metadata gives inputs as {}; expected a list", text_of(inputs)));
  }
  const Json& outputs = member(json, "outputs");
  if (!outputs.is_array()) return metadata;
  for (const Json& output : outputs) {
    const Json& name = member(output, "name");
    if (name.is_string()) metadata.outputs.push_back(name.get<std::string>());
  }
  return metadata;
}

std::size_t width_of(const TensorInput& input) {
  std::size_t width = 1;
  for (const std::int64_t dimension : input.dimensions) {
    if (dimension < 0 || __builtin_mul_overflow(width, static_cast<std::size_t>(dimension), &width)) return 0;
  }
  return width;
}

bool resolve_dimensions(TensorInput& input, std::size_t width) {
  const auto open = std::ranges::find(input.dimensions, -1);
  if (open == input.dimensions.end()) return width_of(input) == width;
  *open = 1;
  const std::size_t rest = width_of(input);  // 0 if a second one is open
  if (rest == 0 || width == 0 || width % rest != 0) return false;
  *open = static_cast<std::int64_t>(width / rest);
  return true;
}

std::string format_inference_request(RowsView x, const TensorInput& input, const std::string& output,
                                     const std::string& model) {
  const auto quoted = [](const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = fmt::format("{{\"inputs\":[{{\"name\":{},\"shape\":[{}", quoted(input.name), x.rows());
  for (const std::int64_t dimension : input.dimensions) text += fmt::format(",{}", dimension);
  text += fmt::format("],\"datatype\":\"{}\",\"data\":[", input.scalar == Scalar::float32 ? "FP32" : "FP64");
  if (x.scalar() == Scalar::float32) {
    append_values(text, x.as<float>(), model);
  } else {
    append_values(text, x.as<double>(), model);
  }
  text += "]}]";
  if (!output.empty()) text += fmt::format(",\"outputs\":[{{\"name\":{}}}]", quoted(output));
  text += '}';
  return text;
}

InferenceAnswer parse_inference_response(std::string_view body, std::size_t rows, const std::string& output,
                                         const std::string& model) {
  const Json json = parse_object(body, model, "its answer");
  const Json& outputs = member(json, "outputs");
  if (!outputs.is_array() || outputs.empty()) fail(model, "its answer has no outputs");
  const Json& tensor = find_output(outputs, output, model);

  const Writer writer{model, "its answer"};
  const std::string datatype = datatype_of(tensor, writer);
  const Json& shape = member(tensor, "shape");
  const std::vector<std::int64_t> dimensions = dimensions_of(shape, 1);
  if (dimensions.empty() || static_cast<std::size_t>(dimensions[0]) != rows) {
    fail(model,
         fmt::format("its answer has shape {}; expected [{}, …] for {} rows", text_of(shape), rows, rows));
  }
  InferenceAnswer answer;
  answer.values = list_of(tensor, dimensions, datatype, writer);
  answer.columns = answer.values.size() / rows;
  return answer;
}

InferenceRows parse_inference_request(std::string_view body, std::optional<std::size_t> json_bytes,
                                      std::size_t width, const std::string& model) {
  const Writer writer{model, "the request"};
  if (json_bytes && *json_bytes > body.size()) {
    fail(model,
         fmt::format("the request has {} bytes; its header says {} of JSON", body.size(), *json_bytes));
  }
  const std::string_view binary = json_bytes ? body.substr(*json_bytes) : std::string_view();
  const Json json = parse_object(body.substr(0, body.size() - binary.size()), model, writer.message);
  const Json& inputs = member(json, "inputs");
  if (!inputs.is_array() || inputs.size() != 1) {
    fail(model, fmt::format("the request has {}; expected one input",
                            inputs.is_array() ? counted(inputs.size(), "input") : "no list of inputs"));
  }
  const Json& tensor = inputs.front();
  const std::string datatype = datatype_of(tensor, writer);
  const Json& shape = member(tensor, "shape");
  const std::vector<std::int64_t> dimensions = dimensions_of(shape, 1);
  const std::optional<std::size_t> values = product_of(dimensions);
  InferenceRows found;
  if (!dimensions.empty()) found.rows = static_cast<std::size_t>(dimensions[0]);
  // rows is at least 1 and a divisor of the product, which did not overflow.
  if (!values || *values / found.rows != width) {
    fail(model, fmt::format("the request has shape {}; expected [rows, …] with {} a row", text_of(shape),
                            counted(width, "value")));
  }
  found.values = member(member(tensor, "parameters"), "binary_data_size").is_null()
                     ? list_of(tensor, dimensions, datatype, writer)
                     : numbers_in(binary, *values, datatype, writer);
  if (std::ranges::any_of(found.values, [](double value) { return std::isinf(value); }))
    fail(model, "the request holds an infinite value");
  const Json& id = member(json, "id");
  if (id.is_string()) found.id = id.get<std::string>();
  return found;
}

std::string parse_error_text(std::string_view body) {
  const Json json = Json::parse(body.begin(), body.end(), nullptr, false);
  for (const char* name : {"error", "detail", "message"}) {
    const Json& text = member(json, name);
    if (text.is_string()) return sentence(text.get_ref<const std::string&>());
    const Json& inner = member(text, "message");  // {"error": {"message": …}}
    if (inner.is_string()) return sentence(inner.get_ref<const std::string&>());
  }
  return sentence(body);
}

}  // namespace harmonia
