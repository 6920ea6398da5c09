#include "base/values/sha256.h"

#include <sha2.h>
#include <sys/types.h>

#include "base/values/fingerprint.h"

namespace muster {

struct Sha256::State {
  SHA2_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256Init(&state_->context); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Add(std::string_view bytes) {
  SHA256Update(&state_->context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::array<std::uint8_t, 32> Sha256::Digest() const {
  SHA2_CTX context = state_->context;  // finishing a context makes it unusable
  std::array<std::uint8_t, 32> digest = {};
  static_assert(digest.size() == SHA256_DIGEST_LENGTH);
  SHA256Final(digest.data(), &context);
  return digest;
}

std::string Sha256::Hex() const {
  const auto digest = Digest();
  return HexText(digest.data(), digest.size());
}

}  // namespace muster
