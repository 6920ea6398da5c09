#include "base/values/fingerprint.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/crc.hpp>
#include <sha2.h>
#include <sys/random.h>
#include <sys/types.h>

// The C library's record of the CPU. The compiler's own (__builtin_cpu_supports) is made at every start of a program by
// about 10 CPUID instructions, which take a virtual machine 0.1 ms. Its header has _Bool, which clang 14 does not know.
#if defined(__x86_64__) && !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#ifdef CPU_FEATURE_ACTIVE
#define MUSTER_HAS_CRC32C 1
#endif
#endif

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

namespace muster {

std::string HexText(const std::uint8_t* bytes, std::size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(size * 2);
  for (std::size_t i = 0; i < size; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Add(bytes);
  return hash.Hex();
}

#if defined(MUSTER_HAS_CRC32C)
namespace {

// Uses the CPU instruction for this polynomial, since it is run over journals of millions of lines.
__attribute__((target("sse4.2"))) std::uint32_t Crc32cByInstruction(std::string_view bytes) {
  std::uint64_t sum = 0xFFFFFFFF;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), sizeof eight);
    sum = __builtin_ia32_crc32di(sum, eight);
    bytes.remove_prefix(sizeof eight);
  }
  auto rest = static_cast<std::uint32_t>(sum);
  for (const char byte : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(byte));
  return ~rest;
}

}  // namespace
#endif

std::uint32_t Crc32c(std::string_view bytes) {
#if defined(MUSTER_HAS_CRC32C)
  if (CPU_FEATURE_ACTIVE(SSE4_2)) return Crc32cByInstruction(bytes);
#endif
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string RandomHex(std::size_t bytes) {
  std::vector<std::uint8_t> random(bytes);
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = getrandom(random.data() + filled, bytes - filled, 0);
    if (got < 0) std::abort();  // EINTR cannot happen for so few bytes (getrandom(2))
    filled += static_cast<std::size_t>(got);
  }
  return HexText(random.data(), bytes);
}

}  // namespace muster

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
