#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harmonia/measure/gamma.hpp"
#include "harmonia/report/gamma_report.hpp"
#include "options.hpp"

namespace harmonia {

/// Options of the ball, the output and the sample; every command that measures gamma has them.
struct GammaFlags {
  std::string radius, average = "surface", output = "predicted";
  std::string ball;  ///< empty: simplex+anti, or pixel of images of more than kWholeBallValues values
  std::string pixel_range = "free";
  bool with_radius = false;  ///< one radius is asked for
  GammaOptions options;
};

/// Adds them, --radius only if one radius is asked for.
void add_gamma_flags(CLI::App& command, GammaFlags& flags, bool with_radius);

/// Puts in what --paper brings with it of images: 100×100 grey pixels and a radius of 100, unless they are
/// given. Throws Error(usage) if there is no radius then, and one is asked for.
void complete(GammaFlags& flags, SubjectOptions& subject);

/// What the flags say, without a radius and a schema. Throws Error(usage) for a word that is not known, so it
/// is called before anything is opened.
GammaOptions asked_options(const GammaFlags& flags);

/// What is asked, with the data's schema; `model` and `seconds` are left open. The radius is read (or found)
/// if it was asked for.
GammaRunRecord asked_record(const GammaFlags& flags, const SubjectOptions& options, const Subject& subject,
                            const std::string& command_line);

/// Throws Error(usage) for two results in one file, or a result over a file that is read: models, data,
/// schema, the rows of a hull. `further`: one more that is written, if not empty.
void check_paths(const RunOptions& run, const SubjectOptions& subject, const std::vector<std::string>& models,
                 const std::string& further = {});

/// How many rows there are, by reading them if need be.
std::size_t count_rows(RowSource& data);

/// Prints what a run will ask of `models`, each measured `times` times.
void print_forecast(const Subject& subject, const GammaOptions& options,
                    const std::vector<std::string>& models, std::size_t times, const ModelOptions& how,
                    const RunOptions& run);

/// One radius for features of very different spreads probes only the narrow ones: a sentence, if it is so and
/// nobody gave scales.
std::vector<std::string> scale_warnings(const SubjectOptions& options, const Subject& subject);

/// Prints warnings to standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace harmonia
