// HMAC-SHA256 (RFC 2104, RFC 4231), and the comparison of such codes in constant time.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// As lower-case hex: 64 characters.
std::string HmacSha256(std::string_view key, std::string_view text);

// Whether the texts are equal; the time depends on their sizes only.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace muster
