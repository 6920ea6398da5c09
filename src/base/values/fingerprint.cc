#include "base/values/fingerprint.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/crc.hpp>
#include <sys/random.h>
#include <sys/types.h>

#include "base/values/sha256.h"

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

#if defined(__x86_64__)
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
#if defined(__x86_64__)
  static const bool by_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (by_instruction) return Crc32cByInstruction(bytes);
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
