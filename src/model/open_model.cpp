#include "harmonia/model/open_model.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "harmonia/core/error.hpp"
#include "harmonia/model/command_model.hpp"
#include "harmonia/model/function_model.hpp"
#include "harmonia/model/http_model.hpp"

namespace harmonia {
namespace {

// The parts of fn:NAME?n=N.
struct FunctionAddress {
  std::string name;
  std::size_t n = 0;
};

FunctionAddress parse_function(const std::string& address) {
  std::string_view rest = address;
  if (rest.starts_with("fn:")) rest.remove_prefix(3);
  const std::size_t question = rest.find('?');
  FunctionAddress parsed{std::string(rest.substr(0, question)), 0};
  if (question == std::string_view::npos) return parsed;
  const std::string_view query = rest.substr(question + 1);
  const char* end = query.data() + query.size();
  if (!query.starts_with("n=") ||
      std::from_chars(query.data() + 2, end, parsed.n) != std::from_chars_result{end, std::errc{}} ||
      parsed.n == 0) {
    throw Error(ErrorCode::usage,
                fmt::format("model {}: '{}' after '?'; expected n=N with N >= 1", address, query));
  }
  return parsed;
}

std::unique_ptr<Model> open_function(const std::string& address, const ModelOptions&,
                                     std::span<const double> example) {
  const FunctionAddress parsed = parse_function(address);
  return make_function_model(parsed.name, parsed.n == 0 ? example.size() : parsed.n);
}

struct Kind {
  std::string_view name;
  std::string_view prefix;
  std::unique_ptr<Model> (*open)(const std::string&, const ModelOptions&, std::span<const double>);
  std::size_t rows_to_open;
};

// A new kind of model is a new row.
constexpr std::array kKinds{
    Kind{"function", "fn:", open_function, 0},
    Kind{"command", "cmd:", open_command_model, 1},
    Kind{"http", "http://", open_http_model, 1},
    Kind{"http", "https://", open_http_model, 1},
};

const Kind& kind_of(const std::string& address, const ModelOptions& options) {
  for (const Kind& kind : kKinds) {
    if (options.kind.empty() ? address.starts_with(kind.prefix) : options.kind == kind.name) return kind;
  }
  if (!options.kind.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("--model-kind {} is not known; kinds are function, command, http", options.kind));
  }
  throw Error(ErrorCode::usage,
              fmt::format("model '{}' is of no known kind; expected fn:f1…f4, cmd:PROGRAM ARGS or "
                          "http(s)://host/v2/models/NAME",
                          address));
}

}  // namespace

std::unique_ptr<Model> open_model(const std::string& address, const ModelOptions& options,
                                  std::span<const double> example) {
  return kind_of(address, options).open(address, options, example);
}

std::size_t rows_to_open(const std::string& address, const ModelOptions& options) {
  return kind_of(address, options).rows_to_open;
}

std::size_t declared_inputs(const std::string& address) {
  return address.starts_with("fn:") ? parse_function(address).n : 0;
}

}  // namespace harmonia
