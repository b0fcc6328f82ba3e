#include "device.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>

#include "harmonia/core/error.hpp"
#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

constexpr std::size_t kLongestErrorName = 24;

}  // namespace

std::string reason(const std::exception& error) {
  const auto* const own = dynamic_cast<const c10::Error*>(&error);
  const std::string_view text = own != nullptr ? own->what_without_backtrace() : error.what();
  std::string_view first, named;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    if (first.empty()) first = line;
    if (line.find("Error: ") < kLongestErrorName) named = text.substr(at);
    at = end + 1;
  }
  return sentence(named.empty() ? first : named);
}

void compute_in_full() {
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
}

c10::Device device_named(const std::string& name) {
  if (name == "cpu") return c10::kCPU;
  const auto refuse = [&](const std::string& found) {
    throw Error(ErrorCode::usage, fmt::format("--device {}: {}", name, found));
  };
  int index = 0;
  if (name != "cuda") {
    const bool numbered =
        name.starts_with("cuda:") && name.size() > 5 && name.size() < 9 &&
        std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!numbered) refuse("is no device; expected cpu, cuda or cuda:N");
    index = std::stoi(name.substr(5));
  }
  const auto count = static_cast<int>(torch::cuda::is_available() ? torch::cuda::device_count() : 0);
  if (count == 0) {
    refuse(
        fmt::format("libtorch {} finds no GPU here, or was built without CUDA; expected cpu", TORCH_VERSION));
  }
  if (index >= count) refuse(fmt::format("there is no such GPU; expected cuda:0 … cuda:{}", count - 1));
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace harmonia
