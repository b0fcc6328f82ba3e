#pragma once

#include <memory>
#include <span>
#include <string>

#include "harmonia/data/row_source.hpp"

namespace harmonia {

/// A part of the space of the features.
class Region {
 public:
  virtual ~Region() = default;
  /// A row with a missing value is in no region that looks at it.
  virtual bool contains(std::span<const double> x) const = 0;
};

/// Reads box:LOW..HIGH,… (one range a feature), box:NAME=LOW..HIGH,… (some features), both ends included and
/// either end left out for none; or hull:FILE[?columns=A,B]: the convex hull of a data file's rows. Its
/// columns are those that carry the data's names, or all of them in order where the data or the file has no
/// names. Throws Error for what cannot be read or does not fit the data.
std::unique_ptr<Region> open_region(const std::string& text, const DataInfo& data);

}  // namespace harmonia
