#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "../model/model_file.hpp"
#include "../model/onnx_session.hpp"
#include "harmonia/core/error.hpp"
#include "harmonia/core/parallel.hpp"
#include "harmonia/core/sha256.hpp"
#include "harmonia/core/text.hpp"
#include "harmonia/text/embedder.hpp"
#include "wordpiece.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kMostTokens = 256;  // of a text: max_seq_length of the model's own configuration

const std::array<std::string, 3> kInputs{"input_ids", "attention_mask", "token_type_ids"};

using Tokens = std::vector<std::int64_t>;

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& found) {
  throw Error(ErrorCode::input,
              fmt::format("embedder {} {}; expected a folder with one ONNX file and vocab.txt, as "
                          "'scripts/setup.sh embedder' makes it",
                          folder, found));
}

// The files of an embedder.
struct Files {
  explicit Files(const std::string& folder)
      : vocabulary((std::filesystem::path(folder) / "vocab.txt").string()) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) refuse_folder(folder, "is no folder");
    std::vector<std::string> models;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".onnx") models.push_back(entry.path().string());
    }
    if (error) refuse_folder(folder, "cannot be read: " + error.message());
    if (models.size() != 1) refuse_folder(folder, "has " + counted(models.size(), "ONNX file"));
    if (!std::filesystem::is_regular_file(vocabulary, error)) refuse_folder(folder, "has no vocab.txt");
    model = models.front();
  }

  std::string model, vocabulary;
};

// Rows of the table in which the graph looks a piece up; 0 if that cannot be seen.
std::size_t table_rows(const OnnxGraph& graph) {
  for (const OnnxNode& node : graph.nodes) {
    if (node.operation != "Gather" || node.inputs.size() != 2 || node.inputs[1] != kInputs[0]) continue;
    for (const OnnxTensor& tensor : graph.initializers) {
      if (tensor.name == node.inputs[0] && !tensor.dims.empty())
        return static_cast<std::size_t>(tensor.dims[0]);
    }
  }
  return 0;
}

void check_inputs(const OnnxGraph& graph, const std::string& file) {
  std::vector<std::string> found;
  bool good = graph.inputs.size() == kInputs.size();
  for (const OnnxValue& input : graph.inputs) {
    good = good && std::find(kInputs.begin(), kInputs.end(), input.name) != kInputs.end() &&
           input.kind == OnnxValue::Kind::tensor && input.type == OnnxType::int64;
    found.push_back(fmt::format("{} ({})", printable(input.name), onnx_type_name(input.type)));
  }
  if (good) return;
  throw Error(ErrorCode::input,
              fmt::format("model {} has {}: {}; expected those of a sentence embedder: {} (int64)", file,
                          counted(found.size(), "input"), fmt::join(found, ", "), fmt::join(kInputs, ", ")));
}

class LocalEmbedder final : public Embedder {
 public:
  LocalEmbedder(const Files& files, const std::string& bytes, const std::string& vocabulary,
                std::size_t threads)
      : file_(files.model),
        pieces_(vocabulary, files.vocabulary),
        pool_(threads == 0 ? hardware_threads() : threads) {
    name_ = fmt::format("{}:{}", std::filesystem::path(file_).stem().string(),
                        sha256_hex(sha256_hex(bytes) + sha256_hex(vocabulary)).substr(0, 16));
    const OnnxGraph graph = read_onnx_graph(bytes, file_);
    check_inputs(graph, file_);
    if (const std::size_t rows = table_rows(graph); rows != 0 && rows != pieces_.size()) {
      throw Error(ErrorCode::input, fmt::format("vocabulary {} has {}; model {} expects {}", files.vocabulary,
                                                counted(pieces_.size(), "piece"), file_, rows));
    }
    output_ = graph.outputs.empty() ? std::string() : std::string(graph.outputs.front().name);
    session_.emplace(bytes, file_);
    check_output();
  }

  const std::string& name() const override { return name_; }

  bool cuts(const std::string& text) const override {
    return text.size() > kMostTokens - 2 &&  // no tokenizer makes more tokens than there are bytes
           pieces_.numbers(text, kMostTokens + 1).size() > kMostTokens;
  }

  Embeddings embed(std::span<const std::string> texts) override {
    std::vector<Tokens> tokens(texts.size());
    pool_.run(texts.size(),
              [&](std::size_t, std::size_t i) { tokens[i] = pieces_.numbers(texts[i], kMostTokens); });
    // Texts of the same tokens are one; long ones come first, so that threads end together.
    std::map<Tokens, std::size_t, LongerFirst> first_text;
    for (std::size_t i = 0; i < tokens.size(); ++i) first_text.emplace(tokens[i], i);
    const std::vector<std::pair<Tokens, std::size_t>> distinct(first_text.begin(), first_text.end());
    Embeddings found{Matrix<float>(texts.size(), width_), {}};
    pool_.run(distinct.size(), [&](std::size_t, std::size_t i) {
      run(distinct[i].first, found.rows.row(distinct[i].second));
    });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::size_t first = first_text.at(tokens[i]);
      if (first != i) std::copy_n(found.rows.row(first), width_, found.rows.row(i));
    }
    for (std::size_t i = 0; i < texts.size(); ++i) take_out_unusable(found, i, texts[i]);
    return found;
  }

 private:
  struct LongerFirst {
    bool operator()(const Tokens& a, const Tokens& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };

  void check_output() {
    const std::optional<OnnxValue> output = session_->output(output_);
    if (!output || output->type != OnnxType::float32) {
      throw Error(ErrorCode::input,
                  fmt::format("model {}: output {} holds {}; expected float", file_, in_quotes(output_),
                              onnx_type_name(output ? output->type : OnnxType::undefined)));
    }
    // A text of three tokens: tells its embedding from one of every token.
    const Inputs inputs(pieces_.numbers("a", 3));
    const std::vector<std::int64_t> shape =
        session_->answer_shape(inputs.parts(), output_, "on a short text");
    if (shape.size() != 2 || shape[0] != 1 || shape[1] < 1) {
      throw Error(
          ErrorCode::input,
          fmt::format("model {}: output {} of a text of 3 tokens has the shape [{}]; expected [1, width]: "
                      "one embedding",
                      file_, in_quotes(output_), fmt::join(shape, ", ")));
    }
    width_ = static_cast<std::size_t>(shape[1]);
  }

  // What the graph takes of a text.
  class Inputs {
   public:
    explicit Inputs(Tokens tokens)
        : ids_(std::move(tokens)),
          ones_(ids_.size(), 1),
          zeros_(ids_.size(), 0),
          shape_{1, static_cast<std::int64_t>(ids_.size())} {}
    std::array<OnnxNumbers, 3> parts() const {
      return {part(kInputs[0], ids_), part(kInputs[1], ones_), part(kInputs[2], zeros_)};
    }

   private:
    OnnxNumbers part(const std::string& name, const Tokens& numbers) const {
      return {name, OnnxType::int64, const_cast<std::int64_t*>(numbers.data()), shape_};
    }

    Tokens ids_, ones_, zeros_;
    std::array<std::int64_t, 2> shape_;
  };

  // One text a call. The runtime's last bits depend on how many there are and on padding; for texts of an
  // answer's length, several at once are no faster on a core.
  void run(const Tokens& tokens, float* row) const {
    const Inputs inputs(tokens);
    const std::array<std::int64_t, 2> shape{1, static_cast<std::int64_t>(width_)};
    session_->run(inputs.parts(), {output_, OnnxType::float32, row, shape});
  }

  void take_out_unusable(Embeddings& found, std::size_t place, const std::string& text) const {
    float* const row = found.rows.row(place);
    const bool finite = std::all_of(row, row + width_, [](float number) { return std::isfinite(number); });
    if (finite && std::any_of(row, row + width_, [](float number) { return number != 0; })) return;
    std::fill_n(row, width_, 0.0F);
    found.missing.emplace(place,
                          fmt::format("model {}: the embedding of the text {} {}", file_, in_quotes(text),
                                      finite ? "is all zeros" : "has numbers that are not finite"));
  }

  std::string name_, file_, output_;
  WordPiece pieces_;
  ThreadPool pool_;
  std::optional<OnnxSession> session_;
  std::size_t width_ = 0;
};

}  // namespace

std::unique_ptr<Embedder> open_local_embedder(const std::string& folder, std::size_t threads) {
  require_onnx_runtime("embedder " + folder);
  const Files files(folder);
  return std::make_unique<LocalEmbedder>(files, read_model_file(files.model),
                                         read_model_file(files.vocabulary), threads);
}

}  // namespace harmonia
