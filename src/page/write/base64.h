// Base64 (RFC 4648, section 4), with padding.
#pragma once

#include <string>
#include <string_view>

namespace muster {

std::string Base64(std::string_view bytes);

}  // namespace muster
