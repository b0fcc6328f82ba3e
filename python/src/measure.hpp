#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonia/measure/compare.hpp"
#include "harmonia/measure/gamma.hpp"
#include "harmonia/measure/stability.hpp"
#include "harmonia/measure/sweep.hpp"
#include "harmonia/report/compare_report.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "harmonia/report/stability_report.hpp"
#include "subject.hpp"

namespace harmonia::python {

/// What a call of harmonia.gamma asks, as the program's options ask it.
struct GammaArguments {
  std::optional<double> radius;  ///< none: found from the data
  std::string average = "surface", output = "predicted";
  std::string ball;                   ///< empty: simplex+anti, or pixel of large images
  GammaOptions options;               ///< but for the ball, the output and the schema
  std::string scale = "none";         ///< none, std or range
  std::string schema_file;            ///< path, or what messages call the text
  std::optional<std::string> schema;  ///< the text of a schema, instead of the file's
  std::vector<std::size_t> fixed;     ///< columns that never move, besides
  std::string model_output;           ///< the name of the model's output that was asked for
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  std::uint64_t max_evaluations = 0;  ///< 0: no limit
  bool margin = false;                ///< the value before the link was asked for
  bool binary = false;                ///< the user's word on the models, for the record of a comparison
  AskedImages images;                 ///< of data that is images
  std::string pixel_range = "free";   ///< where their steps out of 0 … 255 go
  std::string call;                   ///< to repeat it
};

/// A result as Python holds it.
struct PythonResult {
  GammaRunRecord record;
  std::vector<GammaRow> rows;
  GammaSummary summary;
  PythonData data;
  std::vector<ShownImage> images;  ///< if the rows are images
};

/// A comparison as Python holds it.
struct PythonComparison {
  CompareRecord record;
  CompareResult result;
};

/// A sweep as Python holds it.
struct PythonSweep {
  GammaRunRecord record;
  SweepResult result;
  std::vector<std::string> warnings;
};

/// Stability as Python holds it.
struct PythonStability {
  StabilityRunRecord record;
  StabilityResult result;
  std::vector<std::string> warnings;
};

/// How features may be moved, with scales taken from `reference`.
Schema schema_of(const GammaArguments& arguments, RowSource& reference);

/// What was asked, with the radius found and the scales taken from the data.
GammaRunRecord asked_record(const GammaArguments& arguments, const PythonData& rows);

/// Adds a sentence if features spread very differently and nobody gave scales.
void add_scale_warning(const GammaArguments& arguments, const PythonData& rows,
                       std::vector<std::string>& warnings);

/// A run of what is asked.
Run new_run(const GammaArguments& arguments, const PythonModel& model,
            std::function<void(const Progress&)> progress);

/// Measures. `progress` is called with (rows done, rows or None, evaluations) now and then, unless it is
/// None. Ctrl-C raises KeyboardInterrupt. Call with the GIL held.
PythonResult measure_gamma(const PythonModel& model, const PythonData& data, const GammaArguments& arguments,
                           const nanobind::object& progress);

/// Compares models, one name each, as measure_gamma() measures one.
PythonComparison measure_compare(const std::vector<const PythonModel*>& models,
                                 const std::vector<std::string>& names, const PythonData& data,
                                 const GammaArguments& arguments, const nanobind::object& progress);

/// Measures at every radius, as measure_gamma() does at one. The arguments' radius says nothing but that it
/// is given.
PythonSweep measure_sweep(const PythonModel& model, const PythonData& data, const std::vector<double>& radii,
                          const GammaArguments& arguments, const nanobind::object& progress);

/// Measures the classes around rows. Of the arguments count those that are about models, features and the
/// run; `image` is height and width, or nothing.
PythonStability measure_stability(const PythonModel& model, const PythonData& data, StabilityOptions options,
                                  const std::vector<std::size_t>& image, const GammaArguments& arguments,
                                  const nanobind::object& progress);

/// The result as the program writes it.
std::string result_json(const PythonResult& result);

/// The result's rows as a dictionary of arrays, a field each; NaN where there is no value.
nanobind::dict result_columns(const PythonResult& result);

/// The result's summary as a dictionary.
nanobind::dict result_summary(const PythonResult& result);

}  // namespace harmonia::python
