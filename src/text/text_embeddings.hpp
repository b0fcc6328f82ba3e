#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "harmonia/text/embedder.hpp"

namespace harmonia {

/// Texts and their embeddings, each once.
class TextEmbeddings {
 public:
  /// The text's place; new ones are added.
  std::size_t place(const std::string& text);
  /// Embeds all texts. Throws Error(model) if the embedder gives another number of rows, or rows of different
  /// widths; Error(interrupted) if stopped.
  void embed(Embedder& embedder, const std::stop_token& stop);
  std::span<const float> operator[](std::size_t place) const {
    return {values_.data() + place * width_, width_};
  }
  /// Those at the places, a row each.
  Matrix<float> rows(std::span<const std::size_t> places) const;

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> texts_;
  std::vector<float> values_;
  std::size_t width_ = 0;
};

}  // namespace harmonia
