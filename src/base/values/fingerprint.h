// Hashes, checksums and random identifiers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

// SHA-256 in lower-case hex, 64 characters.
std::string Sha256Hex(std::string_view bytes);

// The same, for bytes that are added in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Add(std::string_view bytes);
  std::string Hex() const;  // of everything added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// CRC-32C (Castagnoli), as in RFC 3720 appendix B.4.
std::uint32_t Crc32c(std::string_view bytes);

// `bytes` random bytes from the kernel as lower-case hex.
std::string RandomHex(std::size_t bytes);

}  // namespace muster
