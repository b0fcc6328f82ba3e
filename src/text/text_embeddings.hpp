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
  /// Embeds all texts. Whoever asks for one that is missing is given zeros. Throws Error(model) if the
  /// embedder gives another number of rows, or rows of different widths; Error(interrupted) if stopped.
  void embed(Embedder& embedder, const std::stop_token& stop);
  /// Why the text at the place has no embedding; empty: it has one.
  const std::string& missing(std::size_t place) const;
  /// Why no text at all has one; empty: some have, or there are none.
  const std::string& all_missing() const;
  std::span<const float> operator[](std::size_t place) const {
    return {values_.data() + place * width_, width_};
  }
  /// Those at the places, a row each.
  Matrix<float> rows(std::span<const std::size_t> places) const;

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> texts_;
  std::vector<float> values_;
  std::unordered_map<std::size_t, std::string> missing_;
  std::string none_;  // no reason
  std::size_t width_ = 0;
};

}  // namespace harmonia
