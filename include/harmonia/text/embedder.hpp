#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Anything that gives texts a place in a space where what means the same is near.
class Embedder {
 public:
  virtual ~Embedder() = default;
  /// What results call it; embeddings of one name can be compared.
  virtual const std::string& name() const = 0;
  /// One row a text, in order; the same text gives the same bits within one call. Throws Error(model) if a
  /// text has no embedding, or one with numbers that are not finite, or only zeros.
  virtual Matrix<float> embed(std::span<const std::string> texts) = 0;
};

/// Sentences through all-MiniLM-L6-v2 (ONNX Runtime) in this process. folder: holds one
/// ONNX file and `vocab.txt`, as scripts/setup.sh embedder makes it; the name has a hash of both. threads: 0
/// for one a core. What is past 256 tokens of a text is cut off, as the model's authors do. Texts of the same
/// tokens, such as those that differ in control characters alone, have the same bits, whatever else is asked
/// with them. Throws Error(input) if a file is missing or no such model, Error(usage) where ONNX Runtime was
/// left out.
std::unique_ptr<Embedder> open_local_embedder(const std::string& folder, std::size_t threads = 0);

}  // namespace harmonia
