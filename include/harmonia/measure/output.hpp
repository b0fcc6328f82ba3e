#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "harmonia/core/rows.hpp"
#include "harmonia/model/model.hpp"

namespace harmonia {

/// What of a model's k outputs is measured.
struct OutputChoice {
  enum class Kind {
    label,      ///< the class as a number: the largest of several columns, or a single whole-numbered column
    predicted,  ///< the column that is largest at the row, the same all over its ball
    column,     ///< one column
    norm,       ///< all columns; gamma is the length of the difference
    angle,  ///< all columns; gamma is the angle, in radians, between the ball's average and the row's output
    all,    ///< every column for itself
    flip,   ///< 1 where the class is another than the row's, 0 at the row: gamma is the share of flips
  };
  Kind kind = Kind::predicted;
  std::size_t column = 0;
};

/// Reads label, predicted, column:K, norm, angle, all, flip.
OutputChoice parse_output(const std::string& text);

/// The text that parse_output reads.
std::string output_name(const OutputChoice& choice);

/// The class that one row of outputs stands for: the largest of several columns (the first of equals); of a
/// binary classifier's single column 1 from 0.5 on; any other single column is the class itself if it holds a
/// whole number, and no class otherwise.
std::optional<long long> class_of(std::span<const double> outputs, bool binary);

/// The output that a label stands for: by the name of its class, or by its number; none if there is no such
/// output.
std::optional<std::size_t> labelled_class(const std::string& label, const ModelInfo& model);

/// Takes from model outputs the numbers that are measured.
class Observer {
 public:
  /// Throws Error(usage) if the model has no such column.
  Observer(const OutputChoice& choice, const ModelInfo& model);

  /// The class that outputs stand for, if they are those of a classifier.
  std::optional<long long> decision(std::span<const double> outputs) const;
  /// The same; throws Error(model) if they are not.
  long long label(std::span<const double> outputs) const;
  /// Numbers that it takes from one row of outputs.
  std::size_t width() const { return width_; }
  /// The column that it takes around a row that `centre` answers, if it takes no more than a column.
  std::optional<std::size_t> column(std::span<const double> centre) const;
  /// The numbers for `outputs`, which answer a point of the ball around a row that `centre` answers.
  /// Throws Error(model) if a class is asked of a model that gives none.
  void observe(std::span<const double> outputs, std::span<const double> centre, std::span<double> out) const;

 private:
  OutputChoice choice_;
  std::string model_name_;
  bool binary_;
  std::size_t width_ = 1;
};

}  // namespace harmonia
