// UTF-8 validation (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace muster {

bool IsUtf8(std::string_view bytes);

// Length in bytes of the valid sequence at the front, 0 if there is none.
std::size_t Utf8Length(std::string_view bytes);

// The longest prefix of at most `size` bytes that does not cut a valid sequence.
std::string_view Utf8Prefix(std::string_view bytes, std::size_t size);

}  // namespace muster
