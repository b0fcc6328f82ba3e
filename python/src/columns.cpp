#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "measure.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

nb::list contributions(const std::vector<Contribution>& parts, const DataInfo& data) {
  nb::list list;
  for (const Contribution& part : parts) {
    list.append(nb::make_tuple(feature_name(data, part.feature), part.value));
  }
  return list;
}

// None if no row has one.
nb::object texts(const PythonResult& result, std::string GammaRow::*field) {
  const auto has_one = [&](const GammaRow& row) { return !(row.*field).empty(); };
  if (std::none_of(result.rows.begin(), result.rows.end(), has_one)) return nb::none();
  nb::list list;
  for (const GammaRow& row : result.rows) list.append(nb::cast(row.*field));
  return list;
}

// Fields that may have no value.
constexpr std::pair<const char*, std::optional<double> GammaRow::*> kValues[] = {
    {"value", &GammaRow::value}, {"gamma", &GammaRow::gamma},
    {"low", &GammaRow::low},     {"high", &GammaRow::high},
    {"delta", &GammaRow::delta}, {"laplacian", &GammaRow::laplacian},
    {"split", &GammaRow::split}, {"standard_error", &GammaRow::standard_error},
};

// The numbers of all rows, in one pass: a row is far larger than any of them.
void add_numbers(const std::vector<GammaRow>& rows, nb::dict& fields) {
  using Counts = std::vector<std::int64_t>;
  Counts row(rows.size()), column(rows.size()), points(rows.size()), moved(rows.size()),
      shortened(rows.size());
  std::vector<std::uint8_t> outcome(rows.size());
  std::vector<double> decided(rows.size());
  std::vector<double> values[std::size(kValues)];
  for (std::vector<double>& value : values) value.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GammaRow& from = rows[i];
    row[i] = static_cast<std::int64_t>(from.row);
    column[i] = from.column ? static_cast<std::int64_t>(*from.column) : -1;
    decided[i] = from.decided_class ? static_cast<double>(*from.decided_class) : kNone;
    for (std::size_t f = 0; f < std::size(kValues); ++f)
      values[f][i] = (from.*kValues[f].second).value_or(kNone);
    points[i] = static_cast<std::int64_t>(from.points);
    moved[i] = static_cast<std::int64_t>(from.moved);
    shortened[i] = static_cast<std::int64_t>(from.shortened);
    outcome[i] = static_cast<std::uint8_t>(from.outcome);
  }
  fields["row"] = numpy_array(std::move(row));
  fields["column"] = numpy_array(std::move(column));
  fields["decided_class"] = numpy_array(std::move(decided));
  for (std::size_t f = 0; f < std::size(kValues); ++f)
    fields[kValues[f].first] = numpy_array(std::move(values[f]));
  fields["points"] = numpy_array(std::move(points));
  fields["moved"] = numpy_array(std::move(moved));
  fields["shortened"] = numpy_array(std::move(shortened));
  fields["outcome"] = numpy_array(std::move(outcome));
}

nb::dict statistics(const GammaStatistics& s) {
  nb::dict dict;
  dict["mean"] = s.mean.value_or(kNone);
  dict["low"] = s.low.value_or(kNone);
  dict["high"] = s.high.value_or(kNone);
  dict["standard_error"] = s.standard_error.value_or(kNone);
  dict["rms"] = s.rms.value_or(kNone);
  dict["relative"] = s.relative.value_or(kNone);
  dict["rows"] = s.rows;
  return dict;
}

}  // namespace

nb::dict result_columns(const PythonResult& result) {
  nb::dict fields;
  add_numbers(result.rows, fields);
  fields["id"] = texts(result, &GammaRow::id);
  fields["label"] = texts(result, &GammaRow::label);
  if (result.record.options.explain > 0) {
    nb::list explain;
    for (const GammaRow& row : result.rows) explain.append(contributions(row.explain, result.record.data));
    fields["explain"] = explain;
  }
  return fields;
}

nb::dict result_summary(const PythonResult& result) {
  const GammaSummary& summary = result.summary;
  nb::dict dict = statistics(summary.gamma);
  nb::list columns;
  for (const GammaStatistics& column : summary.columns) columns.append(statistics(column));
  dict["columns"] = columns;
  nb::dict outcomes;
  for (std::size_t i = 0; i < summary.outcomes.size(); ++i) {
    if (summary.outcomes[i] > 0)
      outcomes[outcome_name(static_cast<Outcome>(i)).c_str()] = summary.outcomes[i];
  }
  dict["outcomes"] = outcomes;
  dict["explain"] = contributions(summary.explain, result.record.data);
  dict["rows_shortened"] = summary.rows_shortened;
  dict["rows_partly_moved"] = summary.rows_partly_moved;
  dict["evaluations"] = summary.evaluations;
  dict["warnings"] = nb::cast(summary.warnings);
  return dict;
}

}  // namespace harmonia::python
