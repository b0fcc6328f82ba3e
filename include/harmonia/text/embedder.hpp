#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "harmonia/core/rows.hpp"

namespace harmonia {

/// Embeddings of texts.
struct Embeddings {
  Matrix<float> rows;                          ///< one a text, in order; zeros where it has none
  std::map<std::size_t, std::string> missing;  ///< texts without one, by place, and why, in a line
};

/// Anything that gives texts a place in a space where what means the same is near. One call at a time.
class Embedder {
 public:
  virtual ~Embedder() = default;
  /// What results call it; embeddings of one name can be compared.
  virtual const std::string& name() const = 0;
  /// The same text gives the same bits within one call. A text that cannot be embedded is missing, as is one
  /// whose numbers are not finite, or only zeros. Throws Error(model) for what is true of all texts, such as
  /// a wrong key.
  virtual Embeddings embed(std::span<const std::string> texts) = 0;
  /// Whether it is known to take only the beginning of the text.
  virtual bool cuts(const std::string& /*text*/) const { return false; }
};

/// Sentences through all-MiniLM-L6-v2 (ONNX Runtime) in this process. folder: holds one
/// ONNX file and `vocab.txt`, as scripts/setup.sh embedder makes it; the name has a hash of both. threads: 0
/// for one a core. What is past 256 tokens of a text is cut off, as the model's authors do. Texts of the same
/// tokens, such as those that differ in control characters alone, have the same bits, whatever else is asked
/// with them. Throws Error(input) if a file is missing or no such model, Error(usage) where ONNX Runtime was
/// left out.
std::unique_ptr<Embedder> open_local_embedder(const std::string& folder, std::size_t threads = 0);

}  // namespace harmonia
