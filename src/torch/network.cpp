#include "network.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

namespace harmonia {
namespace {

constexpr std::size_t kConvolutions = 4;
constexpr std::int64_t kKernel = 5, kPool = 2;

// The text of a module and its parameters, layer by layer.
class NetworkWriter {
 public:
  NetworkWriter(at::ScalarType type, std::uint64_t seed)
      : module_("Network"), type_(type), generator_(at::detail::createCPUGenerator(seed)) {}

  void line(const std::string& text) { forward_ += fmt::format("    {}\n", text); }

  // An operation with weights of this shape, the first number of which is its outputs.
  void layer(const std::string& operation, const std::vector<std::int64_t>& shape) {
    std::int64_t inputs = 1;
    for (std::size_t k = 1; k < shape.size(); ++k) inputs *= shape[k];
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    add("weight", at::empty(shape, type_).uniform_(-bound, bound, generator_));
    add("bias", at::empty({shape.front()}, type_).uniform_(-bound, bound, generator_));
    line(fmt::format("x = torch.{0}(x, self.weight{1}, self.bias{1})", operation, layers_++));
  }

  torch::jit::Module finish() {
    module_.define("def forward(self, x):\n" + forward_ + "    return x\n");
    return module_;
  }

 private:
  void add(const char* name, const at::Tensor& values) {
    module_.register_parameter(fmt::format("{}{}", name, layers_), values, /*is_buffer=*/false);
  }

  torch::jit::Module module_;
  at::ScalarType type_;
  at::Generator generator_;
  std::string forward_;
  std::size_t layers_ = 0;
};

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

// From images to what the fully connected layers take; how much that is.
std::int64_t add_convolutions(NetworkWriter& writer, const NetworkShape& shape) {
  const ImageShape& image = shape.image;
  writer.line(
      fmt::format("x = torch.reshape(x, [-1, {}, {}, {}])", image.height, image.width, image.channels));
  writer.line("x = torch.permute(x, [0, 3, 1, 2])");
  std::int64_t height = whole(image.height), width = whole(image.width), before = whole(image.channels);
  for (std::size_t k = 0; k < kConvolutions; ++k) {
    writer.layer("conv2d", {whole(shape.channels), before, kKernel, kKernel});
    writer.line("x = torch.relu(x)");
    before = whole(shape.channels);
    height -= kKernel - 1;
    width -= kKernel - 1;
  }
  writer.line(fmt::format("x = torch.max_pool2d(x, [{0}, {0}])", kPool));
  writer.line("x = torch.flatten(x, 1)");
  return before * (height / kPool) * (width / kPool);
}

}  // namespace

torch::jit::Module new_network(const NetworkShape& shape, at::ScalarType type, std::uint64_t seed) {
  NetworkWriter writer(type, seed);
  writer.line("x = torch.flatten(x, 1)");
  if (shape.unit != 1) writer.line(fmt::format("x = x / {:.17g}", shape.unit));
  std::int64_t before = shape.channels > 0 ? add_convolutions(writer, shape) : whole(shape.inputs);
  for (const std::size_t width : shape.hidden) {
    writer.layer("linear", {whole(width), before});
    writer.line("x = torch.relu(x)");
    before = whole(width);
  }
  writer.layer("linear", {whole(shape.classes), before});
  return writer.finish();
}

std::vector<at::Tensor> connected_weights(const torch::jit::Module& network, const NetworkShape& shape) {
  const std::size_t first = shape.channels > 0 ? kConvolutions : 0;
  std::vector<at::Tensor> weights;
  for (std::size_t k = 0; k <= shape.hidden.size(); ++k)
    weights.push_back(network.attr(fmt::format("weight{}", first + k)).toTensor());
  return weights;
}

}  // namespace harmonia
