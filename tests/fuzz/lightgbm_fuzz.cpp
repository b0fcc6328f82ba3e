#include "read_trees.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return harmonia::fuzz::read_and_ask(harmonia::read_lightgbm,
                                      std::string(harmonia::fuzz::text_of(data, size)));
}
