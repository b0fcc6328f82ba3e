#include "harmonia/model/http_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"
#include "http_client.hpp"
#include "inference_protocol.hpp"
#include "row_text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kRequestsInFlight = 4;
constexpr std::size_t kRowsPerRequest = 256;
// More rows, up to so many, if they are about a megabyte of text at most, which most servers take, and if
// they would be answered in this part of the timeout one by one.
constexpr std::size_t kMostRows = 1024, kMostValues = 48 * 1024;
constexpr double kTimeoutShare = 1.0 / 8;
constexpr const char* kAddress = "http(s)://host[:port]/v2/models/NAME[/versions/V]";

[[noreturn]] void refuse_address(const std::string& address, const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("model {}: {}; expected {}", sentence(address), what, kAddress));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of("/?# \t\r\n") == std::string_view::npos;
}

HttpOptions client_options(const std::string& address, const ModelOptions& options) {
  HttpOptions result;
  result.name = "model " + address;
  result.headers = options.headers;
  result.ca_file = options.ca_file;
  result.timeout_seconds = options.timeout_seconds;
  result.retries = options.retries;
  result.stop = options.stop;
  return result;
}

// Without a slash at its end.
std::string model_url(const std::string& address) {
  const ModelAddress parts = read_model_address(address);
  return parts.server + parts.path;
}

class HttpModel final : public Model {
 public:
  HttpModel(const std::string& address, const ModelOptions& options, std::span<const double> example)
      : url_(model_url(address)), client_(client_options(address, options)), output_(options.output_name) {
    info_.name = address;
    info_.kind = "http";
    info_.takes_missing = options.takes_missing;
    info_.binary = options.binary;
    info_.preferred_threads = kRequestsInFlight;
    ModelMetadata metadata = parse_model_metadata(body_of(client_.get(url_)), address);
    const auto& names = metadata.outputs;
    if (!output_.empty() && !names.empty() && std::ranges::find(names, output_) == names.end()) {
      throw Error(ErrorCode::usage, fmt::format("model {} has no output '{}'; it has {}", address, output_,
                                                sentence(fmt::format("{}", fmt::join(names, ", ")))));
    }
    input_ = std::move(metadata.input);
    const std::size_t width = width_of(input_);
    if (!resolve_dimensions(input_, example.size())) {
      throw Error(ErrorCode::input,
                  fmt::format("data has {} columns; model {} expects {}", example.size(), address,
                              width > 0 ? std::to_string(width) : "a multiple of its shape"));
    }
    info_.inputs = example.size();
    info_.scalar = input_.scalar;
    const auto start = std::chrono::steady_clock::now();
    info_.outputs = ask_example(example);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    info_.example_rows = 1;
    info_.preferred_batch = input_.one_row ? 1 : rows_per_request(taken.count(), options.timeout_seconds);
  }

  const ModelInfo& info() const override { return info_; }

  void evaluate(RowsView x, MutableRowsView y) const override {
    if (input_.scalar == Scalar::float32) {
      evaluate_all(x.as<float>(), y);
    } else {
      evaluate_all(x.as<double>(), y);
    }
  }

 private:
  // Where a server takes some time for every request, more rows in each are sooner answered.
  std::size_t rows_per_request(double seconds_a_row, double timeout_seconds) const {
    const auto answered = static_cast<std::size_t>(
        std::min(kTimeoutShare * timeout_seconds / std::max(seconds_a_row, 1e-9), double{kMostRows}));
    return std::max(kRowsPerRequest, std::min(answered, kMostValues / info_.inputs));
  }

  template <class T>
  void evaluate_all(MatrixView<const T> x, MutableRowsView y) const {
    for (std::size_t first = 0; first < x.rows;) {
      const std::size_t count = std::min(x.rows - first, input_.one_row ? 1 : most_rows_.load());
      HttpAnswer said = post(x.slice(first, count));
      // It may have a limit that it does not tell.
      if (said.status >= 400 && count > kRowsPerRequest) {
        most_rows_ = kRowsPerRequest;
        continue;
      }
      const InferenceAnswer answer = read(std::move(said), count);
      if (answer.columns != info_.outputs) {
        throw Error(ErrorCode::model,
                    fmt::format("model {}: answered {} values a row; expected {}, as in its first "
                                "answer",
                                info_.name, answer.columns, info_.outputs));
      }
      std::ranges::copy(answer.values, y.row(first));
      first += count;
    }
  }

  std::size_t ask_example(std::span<const double> example) const {
    if (input_.scalar == Scalar::float64)
      return ask(MatrixView<const double>{example.data(), 1, example.size()}).columns;
    std::vector<float> row;
    for (const double value : example) row.push_back(static_cast<float>(value));
    return ask(MatrixView<const float>{row.data(), 1, row.size()}).columns;
  }

  HttpAnswer post(RowsView x) const {
    return client_.post(url_ + "/infer", format_inference_request(x, input_, output_, info_.name));
  }

  InferenceAnswer read(HttpAnswer said, std::size_t rows) const {
    return parse_inference_response(body_of(std::move(said)), rows, output_, info_.name);
  }

  InferenceAnswer ask(RowsView x) const { return read(post(x), x.rows()); }

  std::string body_of(HttpAnswer answer) const {
    if (answer.status >= 200 && answer.status < 300) return std::move(answer.body);
    const std::string text = parse_error_text(answer.body);
    throw Error(ErrorCode::model, fmt::format("model {}: status {}{}{}", info_.name, answer.status,
                                              after_tries(answer.tries), text.empty() ? "" : ": " + text));
  }

  ModelInfo info_;
  std::string url_;
  HttpClient client_;
  std::string output_;
  TensorInput input_;
  mutable std::atomic<std::size_t> most_rows_ = std::numeric_limits<std::size_t>::max();  // in a request
};

}  // namespace

ModelAddress read_model_address(const std::string& address) {
  std::string_view url = address;
  while (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t scheme = url.find("://");
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    refuse_address(address, "no http(s) address");
  const std::size_t path = std::min(url.find('/', scheme + 3), url.size());
  if (url.substr(0, path).find('@') != std::string_view::npos) {
    // Not repeated: it holds a password, which would otherwise be in every result.
    throw Error(ErrorCode::usage, "a model's address holds a user name; expected credentials in a header");
  }
  constexpr std::string_view kModels = "/v2/models/";
  const std::size_t models = url.find(kModels, path);
  if (models == std::string_view::npos) {
    refuse_address(address, fmt::format("the path '{}'", printable(url.substr(path))));
  }
  const std::string_view rest = url.substr(models + kModels.size());
  constexpr std::string_view kVersions = "/versions/";
  const std::size_t versions = rest.find(kVersions);
  const bool known =
      versions == std::string_view::npos
          ? is_name(rest)
          : is_name(rest.substr(0, versions)) && is_name(rest.substr(versions + kVersions.size()));
  if (!known) refuse_address(address, fmt::format("'{}' after /v2/models/", printable(rest)));
  return {std::string(url.substr(0, models)), std::string(url.substr(models))};
}

std::unique_ptr<Model> open_http_model(const std::string& address, const ModelOptions& options,
                                       std::span<const double> example) {
  return std::make_unique<HttpModel>(address, options, example);
}

}  // namespace harmonia
