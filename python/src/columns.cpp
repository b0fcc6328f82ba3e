#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "arrays.hpp"
#include "measure.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class T>
nb::object column(const PythonResult& result, const std::function<T(const GammaRow&)>& field) {
  std::vector<T> values;
  values.reserve(result.rows.size());
  for (const GammaRow& row : result.rows) values.push_back(field(row));
  return numpy_array(std::move(values));
}

nb::object column(const PythonResult& result, std::optional<double> GammaRow::*field) {
  return column<double>(result, [&](const GammaRow& row) { return (row.*field).value_or(kNone); });
}

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
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  fields["row"] = column<std::int64_t>(result, [&](const GammaRow& row) { return count(row.row); });
  fields["column"] =
      column<std::int64_t>(result, [&](const GammaRow& row) { return row.column ? count(*row.column) : -1; });
  fields["decided_class"] = column<double>(result, [](const GammaRow& row) {
    return row.decided_class ? static_cast<double>(*row.decided_class) : kNone;
  });
  fields["value"] = column(result, &GammaRow::value);
  fields["gamma"] = column(result, &GammaRow::gamma);
  fields["low"] = column(result, &GammaRow::low);
  fields["high"] = column(result, &GammaRow::high);
  fields["delta"] = column(result, &GammaRow::delta);
  fields["laplacian"] = column(result, &GammaRow::laplacian);
  fields["split"] = column(result, &GammaRow::split);
  fields["standard_error"] = column(result, &GammaRow::standard_error);
  fields["points"] = column<std::int64_t>(result, [&](const GammaRow& row) { return count(row.points); });
  fields["moved"] = column<std::int64_t>(result, [&](const GammaRow& row) { return count(row.moved); });
  fields["shortened"] =
      column<std::int64_t>(result, [&](const GammaRow& row) { return count(row.shortened); });
  fields["outcome"] = column<std::uint8_t>(
      result, [](const GammaRow& row) { return static_cast<std::uint8_t>(row.outcome); });
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
