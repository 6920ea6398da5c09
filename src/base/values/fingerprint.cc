#include "base/values/fingerprint.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/crc.hpp>
#include <sys/random.h>
#include <sys/types.h>

#include "base/values/sha256.h"

// The C library's record of the CPU. The compiler's own (__builtin_cpu_supports) is made at every start of a program by
// about 10 CPUID instructions, which take a virtual machine 0.1 ms. Its header has _Bool, which clang 14 does not know.
#if defined(__x86_64__) && !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#ifdef CPU_FEATURE_ACTIVE
#define MUSTER_HAS_CRC32C 1
#endif
#endif

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
