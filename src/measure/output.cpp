#include "harmonia/measure/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using Kind = OutputChoice::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 6> kNames{{{"label", Kind::label},
                                                                   {"predicted", Kind::predicted},
                                                                   {"norm", Kind::norm},
                                                                   {"angle", Kind::angle},
                                                                   {"all", Kind::all},
                                                                   {"flip", Kind::flip}}};

std::size_t largest(std::span<const double> outputs) {
  return static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
}

}  // namespace

OutputChoice parse_output(const std::string& text) {
  for (const auto& [name, kind] : kNames) {
    if (text == name) return {kind, 0};
  }
  OutputChoice choice{Kind::column, 0};
  constexpr std::string_view prefix = "column:";
  const char* end = text.data() + text.size();
  if (text.starts_with(prefix) && std::from_chars(text.data() + prefix.size(), end, choice.column) ==
                                      std::from_chars_result{end, std::errc{}}) {
    return choice;
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("output '{}' is not known; expected label, predicted, column:K, norm, angle, all or flip",
                  text));
}

std::string output_name(const OutputChoice& choice) {
  for (const auto& [name, kind] : kNames) {
    if (choice.kind == kind) return std::string(name);
  }
  return fmt::format("column:{}", choice.column);
}

std::optional<long long> class_of(std::span<const double> outputs, bool binary) {
  if (outputs.size() > 1) return static_cast<long long>(largest(outputs));
  const double only = outputs[0];
  if (binary) return only >= 0.5 ? 1 : 0;
  if (only != std::floor(only) || std::abs(only) > 0x1p53) return std::nullopt;
  return static_cast<long long>(only);
}

std::optional<std::size_t> labelled_class(const std::string& label, const ModelInfo& model) {
  const auto named = std::find(model.classes.begin(), model.classes.end(), label);
  if (named != model.classes.end()) return static_cast<std::size_t>(named - model.classes.begin());
  const std::optional<double> number = read_number(label);
  if (!number || !(*number >= 0) || *number >= static_cast<double>(model.outputs) ||
      *number != std::floor(*number))
    return std::nullopt;
  return static_cast<std::size_t>(*number);
}

Observer::Observer(const OutputChoice& choice, const ModelInfo& model)
    : choice_(choice), model_name_(model.name), binary_(model.binary) {
  if (choice.kind == Kind::column && choice.column >= model.outputs) {
    throw Error(ErrorCode::usage, fmt::format("output column:{}; model {} has {} (numbered from 0)",
                                              choice.column, model.name, model.outputs));
  }
  if (choice.kind == Kind::norm || choice.kind == Kind::angle || choice.kind == Kind::all)
    width_ = model.outputs;
}

std::optional<long long> Observer::decision(std::span<const double> outputs) const {
  const bool labels = choice_.kind == Kind::label || choice_.kind == Kind::flip;
  if (outputs.size() == 1 && !binary_ && !labels) return std::nullopt;
  return class_of(outputs, binary_);
}

long long Observer::label(std::span<const double> outputs) const {
  const auto label = class_of(outputs, binary_);
  if (label) return *label;
  throw Error(ErrorCode::model,
              fmt::format("output {}: model {} answered {}; a single column must hold whole "
                          "numbers, or be a probability (--binary)",
                          output_name(choice_), model_name_, outputs[0]));
}

std::optional<std::size_t> Observer::column(std::span<const double> centre) const {
  if (choice_.kind == Kind::predicted) return largest(centre);
  return choice_.kind == Kind::column ? std::optional(choice_.column) : std::nullopt;
}

void Observer::observe(std::span<const double> outputs, std::span<const double> centre,
                       std::span<double> out) const {
  switch (choice_.kind) {
    case Kind::label:
      out[0] = static_cast<double>(label(outputs));
      break;
    case Kind::flip:
      out[0] = label(outputs) == label(centre) ? 0 : 1;
      break;
    case Kind::predicted:
    case Kind::column:
      out[0] = outputs[*column(centre)];
      break;
    default:
      std::copy(outputs.begin(), outputs.end(), out.begin());
  }
}

}  // namespace harmonia
