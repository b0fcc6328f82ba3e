#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onnx_graph.hpp"

namespace harmonia {

/// Numbers that somebody else owns, as an input or output of a graph.
struct OnnxNumbers {
  const std::string& name;  ///< of the value in the graph
  OnnxType type;
  void* data;
  std::span<const std::int64_t> shape;
};

/// Throws Error(usage) where Harmonia was built without ONNX Runtime, Error(input) where the library is older
/// than what it was built with. `what` needs it: "model FILE". Nothing else here may be called before.
void require_onnx_runtime(const std::string& what);

/// A graph loaded by ONNX Runtime's processor back end. A call runs on the thread that makes it; several
/// threads may call at once.
class OnnxSession {
 public:
  /// bytes: of the file, whose name is for messages and for weights that lie beside it. Throws Error(input).
  OnnxSession(const std::string& bytes, const std::string& file);
  ~OnnxSession();
  OnnxSession(const OnnxSession&) = delete;
  OnnxSession& operator=(const OnnxSession&) = delete;

  /// An output of the graph as the runtime knows it, without name; none if there is no such output. A shape
  /// that is not known looks like that of a single number; a part that is not fixed is −1.
  std::optional<OnnxValue> output(const std::string& name) const;

  /// Runs the graph into the memory of `answer`. Throws Error(model): "model FILE failed: …". Nothing writes
  /// to the inputs.
  void run(std::span<const OnnxNumbers> inputs, const OnnxNumbers& answer) const;

  /// The shape that an answer has. Throws Error(model): "model FILE failed ON: …".
  std::vector<std::int64_t> answer_shape(std::span<const OnnxNumbers> inputs, const std::string& output,
                                         const std::string& on) const;

 private:
  struct Runtime;
  std::string file_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace harmonia
