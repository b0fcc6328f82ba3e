#include "harmonia/core/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <span>
#include <stdexcept>

namespace harmonia {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  std::string text;
  for (const unsigned char byte : std::span(digest).first(size)) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace harmonia
