// Formats lists of words for messages.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// "a, b and c"
inline std::string WordList(const std::vector<std::string>& words, const char* last = " and ") {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

inline bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace muster
