#include "blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "harmonia/core/error.hpp"

// Nothing here where libtorch has its matrix products inside.
extern "C" __attribute__((weak)) void sgemm_();  // NOLINT(readability-identifier-naming): BLAS names it so

namespace harmonia {

void require_fast_blas(const std::string& who) {
  Dl_info found{};
  if (sgemm_ == nullptr || dladdr(reinterpret_cast<const void*>(&sgemm_), &found) == 0) return;
  std::error_code unknown;
  const std::filesystem::path library = std::filesystem::canonical(found.dli_fname, unknown);
  // Debian keeps every BLAS in a folder of its name; the reference is simply 'blas'.
  if (unknown || library.parent_path().filename() != "blas") return;
  throw Error(
      ErrorCode::usage,
      fmt::format("{}: libtorch would run on the reference BLAS ({}), which is up to a hundred times "
                  "slower; 'scripts/setup.sh libtorch' installs OpenBLAS, 'make torch' builds with it",
                  who, library.string()));
}

}  // namespace harmonia
