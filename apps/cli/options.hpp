#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harmonia/data/image_description.hpp"
#include "harmonia/data/row_source.hpp"
#include "harmonia/data/schema.hpp"
#include "harmonia/model/open_model.hpp"

namespace harmonia {

/// Options that say which model and which rows; every measuring command has them.
struct SubjectOptions {
  std::string model, data;
  ModelOptions model_options;
  DataOptions data_options;
  ImageOptions images;
  std::string schema_file, scale = "none";
  std::uint64_t seed = 1;
};

/// Options that say how to run and where results go; every measuring command has them.
struct RunOptions {
  std::size_t threads = 0;
  std::uint64_t max_evaluations = 0;
  bool dry_run = false, quiet = false;
  std::string json, csv, html, resume;
};

/// Accepts finite numbers that are `good`, which `expected` says in words; CLI's own checks let nan through.
CLI::Validator finite_number(const std::string& expected, bool (*good)(double));

/// Adds MODEL and DATA, which it returns.
CLI::Option* add_model_argument(CLI::App& command, SubjectOptions& options);
/// Adds MODEL... and DATA, the last word.
void add_models_argument(CLI::App& command, std::vector<std::string>& models_and_data);
/// Adds the options of how a model is reached, whatever is asked of it.
void add_reaching_options(CLI::App& command, ModelOptions& options);
/// Adds the options that go with model and data.
void add_subject_options(CLI::App& command, SubjectOptions& options);
/// Adds the options of running.
void add_run_limits(CLI::App& command, RunOptions& options);
/// Adds these, and the options of results.
void add_run_options(CLI::App& command, RunOptions& options);
/// Adds --resume, for commands that keep a journal.
void add_resume_option(CLI::App& command, RunOptions& options);

/// The model, the data, how its features may be moved, and a row to show to the model.
struct Subject {
  std::unique_ptr<Model> model;  ///< null until open_asked_model() if it needs the example to be opened
  std::unique_ptr<RowSource> data;
  std::unique_ptr<RowSource> whole;  ///< all rows, if data is a part of them
  Schema schema;                     ///< empty if all features are plain
  std::vector<double> example;
  AskedImages images;        ///< if the rows are images
  DataOptions data_options;  ///< as the data was opened with them

  /// What spreads and distances are taken from: all rows, even if a part is measured.
  RowSource& reference() const { return whole ? *whole : *data; }
};

/// Reads HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, the shape of rows of `inputs` features. Throws Error(usage)
/// for what is none, or another number of values.
ImageShape parse_image(const std::string& text, std::size_t inputs);

/// Opens a model that is to be measured on the subject's data: one of images through its description, if it
/// has one.
std::unique_ptr<Model> open_asked_model(const std::string& address, const ModelOptions& how,
                                        const SubjectOptions& options, const Subject& subject);

/// Whether it is the value before the link that is measured: asked for, or because the images' description
/// says that the model answers with probabilities.
bool measures_margin(const SubjectOptions& options, const Subject& subject);

/// Opens the model if it says how wide its rows are, opens the data, and reads its first row.
Subject open_subject(const SubjectOptions& options);

/// Throws Error(input) if the model names other columns than the data has, unless --columns says which they
/// are.
void check_columns(const ModelInfo& model, const DataInfo& data, const SubjectOptions& options);

/// Whether two names, neither of them empty, are of one file.
bool same_file(const std::string& a, const std::string& b);

/// Throws Error(usage) if two of the files to write are one, or one of them is read (FILE, or FILE#ROW);
/// empty names are none.
void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read);

/// The command line to repeat a run, with the values of headers left out.
std::string command_line(int argc, char** argv);

}  // namespace harmonia
