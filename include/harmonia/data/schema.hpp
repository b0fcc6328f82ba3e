#pragma once

#include <limits>
#include <string>
#include <vector>

namespace harmonia {

/// How one feature may be moved.
struct Feature {
  std::string name;
  double scale = 1;  ///< its steps are this many times the radius
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool integer = false;    ///< moved by whole numbers
  bool fixed = false;      ///< categorical or immutable: never moved
  bool mirrored = false;   ///< a step over a bound comes back from it, instead of being cut short
  bool has_scale = false;  ///< the scale was given for this feature, so that --scale leaves it alone

  bool bounded() const {
    return lower > -std::numeric_limits<double>::infinity() ||
           upper < std::numeric_limits<double>::infinity();
  }
};

/// The features of a data set, one a column, in the columns' order.
using Schema = std::vector<Feature>;

/// A schema that says nothing but the names.
Schema plain_schema(const std::vector<std::string>& names);

/// Reads a schema file: {"features": {"age": {"scale": 10, "bounds": [0, 120], "integer": true,
/// "categorical": false, "immutable": false}, …}}. Features that it does not name stay plain; a name that the
/// data does not have is an error.
Schema load_schema(const std::string& path, const std::vector<std::string>& names);

/// The same for a text that is at hand; messages call it `path`.
Schema read_schema(const std::string& text, const std::string& path, const std::vector<std::string>& names);

}  // namespace harmonia
