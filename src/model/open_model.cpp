#include "harmonia/model/open_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <new>
#include <optional>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/model/command_model.hpp"
#include "harmonia/model/function_model.hpp"
#include "harmonia/model/http_model.hpp"
#include "harmonia/model/onnx_model.hpp"
#include "harmonia/model/torch_model.hpp"
#include "harmonia/model/tree_ensemble.hpp"
#include "model_file.hpp"
#include "onnx_graph.hpp"

namespace harmonia {
namespace {

// The parts of fn:NAME?n=N&PARAMETER=VALUE.
struct FunctionAddress {
  std::string name;
  std::size_t n = 0;
  std::map<std::string, double> parameters;
};

FunctionAddress parse_function(const std::string& address) {
  std::string_view rest = address;
  if (rest.starts_with("fn:")) rest.remove_prefix(3);
  const std::size_t question = rest.find('?');
  FunctionAddress parsed{std::string(rest.substr(0, question)), 0, {}};
  while (rest.find_first_of("?&") != std::string_view::npos) {
    rest.remove_prefix(rest.find_first_of("?&") + 1);
    const std::string_view part = rest.substr(0, rest.find('&'));
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals),
                           text = part.substr(std::min(equals + 1, part.size()));
    const std::optional<double> value = read_number(text);
    const char* end = text.data() + text.size();
    const bool good = name == "n" ? std::from_chars(text.data(), end, parsed.n) ==
                                            std::from_chars_result{end, std::errc{}} &&
                                        parsed.n > 0
                                  : value.has_value();
    if (!good) {
      throw Error(ErrorCode::usage, fmt::format("model {}: '{}' after '?'; expected n=N with N >= 1{}",
                                                address, part, name == "n" ? "" : ", or NAME=NUMBER"));
    }
    if (name != "n") parsed.parameters[std::string(name)] = *value;
  }
  return parsed;
}

std::unique_ptr<Model> open_function(const std::string& address, const ModelOptions&,
                                     std::span<const double> example) {
  const FunctionAddress parsed = parse_function(address);
  return make_function_model(parsed.name, parsed.n == 0 ? example.size() : parsed.n, parsed.parameters);
}

bool is_function(const std::string& address, std::string_view) { return address.starts_with("fn:"); }

bool is_command(const std::string& address, std::string_view) { return address.starts_with("cmd:"); }

bool is_http(const std::string& address, std::string_view) {
  return address.starts_with("http://") || address.starts_with("https://");
}

bool is_onnx(const std::string& address, std::string_view head) {
  return address.ends_with(".onnx") || looks_like_onnx(head);
}

bool has_suffix(const std::string& address, std::initializer_list<std::string_view> suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return address.ends_with(suffix); });
}

bool is_torch(const std::string& address, std::string_view head) {
  return has_suffix(address, {".pt", ".pth"}) || looks_like_torch(head);
}

// JSON or UBJSON with a learner, or what the name says is XGBoost's: its reader tells what else it is.
bool is_xgboost(const std::string& address, std::string_view head) {
  if (head.starts_with("binf")) return true;  // XGBoost's own format of before 1.0
  return (head.starts_with('{') && head.find("learner") != std::string_view::npos) ||
         has_suffix(address, {".json", ".ubj", ".xgb"});
}

std::unique_ptr<Model> open_trees(const std::string& path, const char* kind, const ModelOptions& options,
                                  TreeEnsemble (*read)(const std::string&, const std::string&)) {
  const std::string bytes = read_model_file(path);
  return make_tree_model(read(bytes, path), {.name = path,
                                             .kind = kind,
                                             .sha256 = sha256_hex(bytes),
                                             .margin = options.margin,
                                             .simd = best_simd(),
                                             .fast_path = options.fast_path});
}

std::unique_ptr<Model> open_xgboost(const std::string& address, const ModelOptions& options,
                                    std::span<const double>) {
  return open_trees(address, "xgboost", options, read_xgboost);
}

bool is_lightgbm(const std::string& address, std::string_view head) {
  return head.starts_with("tree\n") || head.starts_with("tree\r\n") || has_suffix(address, {".txt", ".lgb"});
}

std::unique_ptr<Model> open_lightgbm(const std::string& address, const ModelOptions& options,
                                     std::span<const double>) {
  return open_trees(address, "lightgbm", options, read_lightgbm);
}

bool is_onnx_trees(const std::string& address, std::string_view head) {
  return is_onnx(address, head) && is_onnx_trees_file(address);
}

struct Kind {
  std::string_view name;
  /// Of an address, and the first bytes of the file that it names (none: there is no such file).
  bool (*recognise)(const std::string& address, std::string_view head);
  std::unique_ptr<Model> (*open)(const std::string&, const ModelOptions&, std::span<const double>);
  std::size_t rows_to_open;  ///< asked of the model when it is opened, to learn its shape
  bool file;                 ///< a model file, which says how wide its rows are
  bool named_outputs;        ///< one of several outputs may be asked for by its name
  bool (*needs_example)(const std::string&) = nullptr;  ///< of a model file that may not say it after all
};

// A new kind of model is a new row. The first that recognises an address has it.
constexpr std::array kKinds{
    Kind{"function", is_function, open_function, 0, false, false},
    Kind{"command", is_command, open_command_model, 1, false, false},
    Kind{"http", is_http, open_http_model, 1, false, true},
    Kind{"onnx-trees", is_onnx_trees, open_onnx_trees, 0, true, true},
    Kind{"onnx", is_onnx, open_onnx_model, 0, true, true, onnx_needs_example},
    Kind{"torch", is_torch, open_torch_model, 2, false, false},
    Kind{"xgboost", is_xgboost, open_xgboost, 0, true, false},
    Kind{"lightgbm", is_lightgbm, open_lightgbm, 0, true, false},
};

std::string kind_names() {
  std::string names;
  for (const Kind& kind : kKinds) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

const Kind& kind_of(const std::string& address, const ModelOptions& options) {
  const std::string head = options.kind.empty() ? model_file_head(address) : "";
  for (const Kind& kind : kKinds) {
    if (options.kind.empty() ? kind.recognise(address, head) : options.kind == kind.name) return kind;
  }
  if (!options.kind.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("--model-kind {} is not known; kinds are {}", options.kind, kind_names()));
  }
  throw Error(
      ErrorCode::usage,
      fmt::format(
          "model '{}' is of no known kind; expected a model file (net.onnx, net.pt, XGBoost's .json or .ubj, "
          "LightGBM's .txt), fn:f1…f4, cmd:PROGRAM ARGS or http(s)://host/v2/models/NAME",
          address));
}

[[noreturn]] void throw_too_large(const std::string& path) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  throw Error(
      ErrorCode::input,
      fmt::format("model {}: out of memory while it was read{}; expected a smaller model, or more memory",
                  path, unknown ? "" : fmt::format(", several times its {} MiB", bytes >> 20U)));
}

}  // namespace

std::unique_ptr<Model> open_model(const std::string& address, const ModelOptions& options,
                                  std::span<const double> example) {
  const Kind& kind = kind_of(address, options);
  if (options.margin && !kind.file) {
    throw Error(ErrorCode::usage,
                fmt::format("--margin: model {} is of kind {}, whose answers are taken as they are; "
                            "expected an ONNX, XGBoost or LightGBM file",
                            address, kind.name));
  }
  if ((!options.headers.empty() || !options.ca_file.empty()) && kind.open != open_http_model) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: model {} is of kind {}, and no server; expected http(s)://host/v2/models/NAME",
                    options.headers.empty() ? "--ca-file" : "--header", address, kind.name));
  }
  if (options.device != "cpu" && kind.open != open_torch_model) {
    throw Error(
        ErrorCode::usage,
        fmt::format("--device {}: model {} is of kind {}, which runs where it is; expected a TorchScript "
                    "file (net.pt)",
                    options.device, address, kind.name));
  }
  if (!options.output_name.empty() && !kind.named_outputs) {
    throw Error(ErrorCode::usage,
                fmt::format("--model-output: model {} is of kind {}, whose outputs have no names", address,
                            kind.name));
  }
  try {
    return kind.open(address, options, example);
  } catch (const std::bad_alloc&) {
    if (!kind.file && kind.open != open_torch_model) throw;
    throw_too_large(address);
  }
}

bool has_margin(const std::string& address, const ModelOptions& options) {
  return kind_of(address, options).file;
}

bool is_server(const std::string& address, const ModelOptions& options) {
  return kind_of(address, options).open == open_http_model;
}

std::size_t rows_to_open(const std::string& address, const ModelOptions& options) {
  return kind_of(address, options).rows_to_open;
}

bool needs_example(const std::string& address, const ModelOptions& options) {
  const Kind& kind = kind_of(address, options);
  if (kind.needs_example != nullptr) return kind.needs_example(address);
  return kind.open == open_function ? parse_function(address).n == 0 : !kind.file;
}

}  // namespace harmonia
