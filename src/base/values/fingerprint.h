// Hashes and random identifiers: SHA-256 of bytes that arrive in parts or at once, its HMAC, CRC-32C, hexadecimal
// text and random bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

// SHA-256 of bytes that arrive in parts; for a single text use Sha256Hex() in base/values/fingerprint.h.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Add(std::string_view bytes);
  // Of everything added so far.
  std::array<std::uint8_t, 32> Digest() const;
  std::string Hex() const;  // the same: 64 characters, lower-case

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Hashes, checksums and random identifiers.

// SHA-256 in lower-case hex, 64 characters.
std::string Sha256Hex(std::string_view bytes);

// CRC-32C (Castagnoli), as in RFC 3720 appendix B.4.
std::uint32_t Crc32c(std::string_view bytes);

// Bytes as lower-case hex.
std::string HexText(const std::uint8_t* bytes, std::size_t size);

// `bytes` random bytes from the kernel as lower-case hex.
std::string RandomHex(std::size_t bytes);

// HMAC-SHA256 (RFC 2104, RFC 4231), and the comparison of such codes in constant time.

// As lower-case hex: 64 characters.
std::string HmacSha256(std::string_view key, std::string_view text);

// Whether the texts are equal; the time depends on their sizes only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace muster
