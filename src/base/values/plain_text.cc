#include "base/values/plain_text.h"

#include <algorithm>

namespace muster {

bool IsPlain(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(), [also](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-./:,+@%").find(c) != std::string_view::npos || also.find(c) != std::string_view::npos;
  });
}

}  // namespace muster
