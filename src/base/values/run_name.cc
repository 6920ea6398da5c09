#include "base/values/run_name.h"

#include <algorithm>

namespace muster {

bool IsRunName(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto is_part = [&](char c) { return is_plain(c) || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= kLongest && is_plain(name.front()) &&
         std::all_of(name.begin(), name.end(), is_part);
}

}  // namespace muster
