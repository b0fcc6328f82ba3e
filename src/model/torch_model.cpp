#include "harmonia/model/torch_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harmonia/core/error.hpp"
#include "harmonia/core/sha256.hpp"
#include "model_file.hpp"
#include "torch_library.hpp"

namespace harmonia {
namespace {

constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::string_view kZipEnd = "PK\x05\x06";
constexpr std::size_t kLongestZipEnd = 22 + 65535;  // bytes, a comment included

// Whether the archive has a file of that name, in any folder.
bool holds(std::string_view bytes, std::string_view file) { return bytes.find(file) != bytes.npos; }

// What is wrong with the file; empty: it is a whole archive with a module's code.
std::string fault(std::string_view bytes) {
  if (bytes.empty()) return "is empty";
  if (!bytes.starts_with(kZip)) {
    const bool pickle = bytes.starts_with('\x80');
    return pickle ? "is a pickle, as torch.save wrote before PyTorch 1.6: it has no code"
                  : "is no TorchScript";
  }
  const std::size_t tail = std::min(bytes.size(), kLongestZipEnd);
  if (!holds(bytes.substr(bytes.size() - tail), kZipEnd)) return "is cut off: its archive has no end";
  if (!holds(bytes, "/data.pkl")) return "is an archive of something else";
  // torch.save writes the weights alone, or a pickle that only the Python classes that made it can read.
  if (!holds(bytes, "/constants.pkl")) return "holds weights or a pickled module, and no code (torch.save)";
  return {};
}

}  // namespace

bool looks_like_torch(std::string_view head) {
  return head.starts_with(kZip) && (holds(head, "/data.pkl") || holds(head, "/constants.pkl"));
}

std::unique_ptr<Model> open_torch_model(const std::string& path, const ModelOptions& options,
                                        std::span<const double> example) {
  TorchRequest request{path, read_model_file(path), {}, &options, example};
  if (const std::string wrong = fault(request.bytes); !wrong.empty()) {
    throw Error(ErrorCode::input,
                fmt::format("model {} {}; expected what torch.jit.script(module).save(FILE) or "
                            "torch.jit.trace(module, x).save(FILE) writes",
                            path, wrong));
  }
  request.sha256 = sha256_hex(request.bytes);
  return std::unique_ptr<Model>(torch_library("model " + path).open(request));
}

}  // namespace harmonia
