// Hashes, checksums and random identifiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// SHA-256 in lower-case hex, 64 characters.
std::string Sha256Hex(std::string_view bytes);

// CRC-32C (Castagnoli), as in RFC 3720 appendix B.4.
std::uint32_t Crc32c(std::string_view bytes);

// Bytes as lower-case hex.
std::string HexText(const std::uint8_t* bytes, std::size_t size);

// `bytes` random bytes from the kernel as lower-case hex.
std::string RandomHex(std::size_t bytes);

}  // namespace muster
