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
    const Embeddings found = embedder.embed(part);
    for (const auto& [place, why] : found.missing) missing_.emplace(first + place, why);
    const bool some = found.missing.size() < part.size();
    if (width_ == 0 && some) {
      width_ = found.rows.columns();
      values_.resize(first * width_);  // of texts before, all of which are missing
    }
    if (found.rows.rows() != part.size() || (some && found.rows.columns() != width_)) {
      throw Error(ErrorCode::model, fmt::format("embedder {} gave {} × {} numbers for {}; expected {} × {}",
                                                embedder.name(), found.rows.rows(), found.rows.columns(),
                                                counted(part.size(), "text"), part.size(), width_));
    }
    if (some) values_.insert(values_.end(), found.rows.row(0), found.rows.row(0) + part.size() * width_);
    values_.resize((first + part.size()) * width_);
  }
}

const std::string& TextEmbeddings::missing(std::size_t place) const {
  const auto found = missing_.find(place);
  return found == missing_.end() ? none_ : found->second;
}

const std::string& TextEmbeddings::all_missing() const {
  return !texts_.empty() && missing_.size() == texts_.size() ? missing(0) : none_;
}

Matrix<float> TextEmbeddings::rows(std::span<const std::size_t> places) const {
  Matrix<float> rows(places.size(), width_);
  for (std::size_t i = 0; i < places.size(); ++i) std::ranges::copy((*this)[places[i]], rows.row(i));
  return rows;
}

}  // namespace harmonia
