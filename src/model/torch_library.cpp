#include "torch_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libharmonia_torch.so";

// Folders beside the program, or the Python module, that this code is a part of.
std::vector<fs::path> folders() {
  std::error_code unknown;
  std::vector<fs::path> found;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", unknown); !unknown)
    found.push_back(program.parent_path());
  Dl_info self{};
  if (dladdr(&kFile, &self) != 0 && self.dli_fname != nullptr) {
    const fs::path object = fs::weakly_canonical(self.dli_fname, unknown);
    if (!unknown) found.push_back(object.parent_path());
  }
  return found;
}

// $HARMONIA_TORCH, or the first file of that name beside us or where `cmake --install` puts it.
fs::path find_library() {
  if (const char* const named = std::getenv("HARMONIA_TORCH"); named != nullptr && *named != '\0')
    return named;
  std::error_code unknown;
  for (const fs::path& folder : folders()) {
    for (const fs::path& candidate : {folder / kFile, folder / ".." / HARMONIA_LIBDIR / kFile}) {
      if (fs::exists(candidate, unknown)) return candidate;
    }
  }
  return {};
}

[[noreturn]] void fail(const std::string& who, const std::string& why) {
  throw Error(ErrorCode::usage, fmt::format("{} needs {}", who, why));
}

template <class Function>
Function& function_of(void* library, const char* name, const std::string& who, const fs::path& path) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    fail(who, fmt::format("{}; {} has no {}: expected what 'make torch' builds", kFile, path.string(), name));
  return *reinterpret_cast<Function*>(found);
}

TorchLibrary load(const std::string& who) {
  const fs::path path = find_library();
  if (path.empty()) {
    fail(who, fmt::format("{}, which is neither beside this program nor in its ../{}; 'make torch' builds "
                          "it, HARMONIA_TORCH names one elsewhere",
                          kFile, HARMONIA_LIBDIR));
  }
  // Local: its hundreds of libraries answer nobody else's calls. It stays, as libtorch has threads of its
  // own.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    fail(who, fmt::format("{}, which cannot be loaded: {}; 'make torch' builds it", kFile,
                          why == nullptr ? path.string() : sentence(why)));
  }
  const std::string_view built = function_of<TorchSourcesFunction>(library, kTorchSourcesName, who, path)();
  if (built != HARMONIA_SOURCES) {
    fail(who, fmt::format("a {} of its own build ({}); {} is of {}: 'make torch' builds it again", kFile,
                          HARMONIA_SOURCES, path.string(), built));
  }
  return {&function_of<TorchOpenFunction>(library, kTorchOpenName, who, path),
          &function_of<TorchTrainFunction>(library, kTorchTrainName, who, path)};
}

}  // namespace

const TorchLibrary& torch_library(const std::string& who) {
  static std::mutex mutex;
  static std::optional<TorchLibrary> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded) loaded = load(who);
  return *loaded;
}

}  // namespace harmonia
