#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "harmonia/model/model.hpp"

namespace harmonia {

/// What a model needs to be reached, and which of its answers is wanted.
struct ModelOptions {
  std::string kind;  ///< one of the kinds that open_model knows; empty: recognised from the address
  std::vector<std::string> headers;  ///< "Name: value", sent with every HTTP request
  std::string ca_file;               ///< PEM file of the authorities trusted over TLS; empty: the system's
  std::string output_name;           ///< which of a server's outputs; empty: its first
  double timeout_seconds = 60;       ///< longest wait for one answer
  int retries = 4;                   ///< further tries after a 5xx answer or a lost connection
  std::stop_token stop;              ///< when asked, waiting for an answer ends with Error(interrupted)
  bool binary = false;               ///< the user's word that a single output is the probability of class 1
  bool takes_missing = false;        ///< the user's word that a command or server answers rows with NaN
  std::vector<std::size_t> row_shape{};  ///< of one row, where a file leaves sizes open; empty: not known
  std::string device = "cpu";            ///< of a TorchScript model: cpu, cuda or cuda:N
  bool fast_path = true;  ///< points may be answered by another way that is at least as accurate
  bool margin = false;    ///< the value before the link (logit, raw score) instead of what predict returns
};

/// Opens the model at `address`: a file (ONNX, TorchScript, XGBoost's JSON or UBJSON, LightGBM's text),
/// fn:NAME[?n=N] (see make_function_model), cmd:PROGRAM ARGS, http(s)://host/v2/models/NAME. `example` is one
/// row of the data it will see; models that do not say their own width take it from there, and a command is
/// asked it once to learn how many outputs it has. Throws Error(usage) for an address that no kind knows or
/// options that its kind does not have, Error(model) for a model that cannot be reached.
std::unique_ptr<Model> open_model(const std::string& address, const ModelOptions& options,
                                  std::span<const double> example);

/// Whether options.margin works: a model file in which the value before the link can be found.
bool has_margin(const std::string& address, const ModelOptions& options);

/// Whether the model is a server, which alone is sent headers.
bool is_server(const std::string& address, const ModelOptions& options);

/// Rows that opening this model asks of it, to learn its shape.
std::size_t rows_to_open(const std::string& address, const ModelOptions& options);

/// Whether opening this model takes a row of the data: it does not say itself how wide its rows are.
bool needs_example(const std::string& address, const ModelOptions& options);

}  // namespace harmonia
