#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace harmonia {

/// What a JSON or UBJSON file holds. Numbers that stand in a list lie side by side, for model files are long
/// lists of numbers.
struct Document {
  enum class Kind { null, number, text, list, object };
  Kind kind = Kind::null;
  double number = 0;              ///< of a number; of true and false, 1 and 0
  std::string text;               ///< of a text
  std::vector<double> numbers;    ///< of a list
  std::vector<Document> items;    ///< of a list: what is no number; of an object: its values
  std::vector<std::string> keys;  ///< of an object, one a value

  /// The value of a key; null if there is none, or this is no object. Of equal keys the first.
  const Document* find(std::string_view key) const;
};

/// Deepest nesting that is read.
constexpr int kDocumentDepth = 64;

/// Reads JSON, with NaN, Infinity and -Infinity as numbers. Throws Error(input), one line that begins with
/// "model NAME".
Document read_json_document(std::string_view bytes, const std::string& name);

/// Reads UBJSON as XGBoost writes it: objects without a count; lists with or without count and type. Throws
/// as read_json_document() does.
Document read_ubjson_document(std::string_view bytes, const std::string& name);

}  // namespace harmonia
