#include "wire/dial/hmac_sha256.h"

#include <cstddef>

#include "base/values/sha256.h"

namespace muster {
namespace {

constexpr std::size_t kBlockBytes = 64;  // of SHA-256

std::string RawDigest(const Sha256& hash) {
  const auto digest = hash.Digest();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string Mixed(std::string block, char with) {
  for (char& byte : block) byte = static_cast<char>(byte ^ with);
  return block;
}

}  // namespace

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::string block(key);
  if (block.size() > kBlockBytes) {
    Sha256 hash;
    hash.Add(block);
    block = RawDigest(hash);
  }
  block.resize(kBlockBytes, '\0');
  Sha256 inner;
  inner.Add(Mixed(block, 0x36));
  inner.Add(text);
  Sha256 outer;
  outer.Add(Mixed(block, 0x5c));
  outer.Add(RawDigest(inner));
  return outer.Hex();
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  const volatile unsigned result = different;  // so that the loop is not ended early
  return result == 0;
}

}  // namespace muster
