#include "text_embeddings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kEmbeddedTogether = 256;  // texts, so that a stop is heard

}  // namespace

std::size_t TextEmbeddings::place(const std::string& text) {
  const auto [found, is_new] = places_.try_emplace(text, texts_.size());
  if (is_new) texts_.push_back(text);
  return found->second;
}

void TextEmbeddings::embed(Embedder& embedder, const std::stop_token& stop) {
  for (std::size_t first = 0; first < texts_.size(); first += kEmbeddedTogether) {
    if (stop.stop_requested()) throw Error(ErrorCode::interrupted, "stopped");
    const std::span<const std::string> part =
        std::span(texts_).subspan(first, std::min(kEmbeddedTogether, texts_.size() - first));
    const Matrix<float> rows = embedder.embed(part);
    const std::size_t width = first > 0 ? width_ : rows.columns();
    if (rows.rows() != part.size() || rows.columns() != width) {
      throw Error(ErrorCode::model,
                  fmt::format("embedder {} gave {} × {} numbers for {}; expected {} × {}", embedder.name(),
                              rows.rows(), rows.columns(), counted(part.size(), "text"), part.size(), width));
    }
    width_ = width;
    values_.insert(values_.end(), rows.row(0), rows.row(0) + rows.rows() * width_);
  }
}

Matrix<float> TextEmbeddings::rows(std::span<const std::size_t> places) const {
  Matrix<float> rows(places.size(), width_);
  for (std::size_t i = 0; i < places.size(); ++i) std::ranges::copy((*this)[places[i]], rows.row(i));
  return rows;
}

}  // namespace harmonia
