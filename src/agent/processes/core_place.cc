#include "agent/processes/core_place.h"

namespace muster {
namespace {

// The text escaped for glob(3), so that it matches itself.
std::string GlobEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

CorePlace CorePlaceOf(std::string_view pattern, bool uses_pid, const Dumped& dumped) {
  while (pattern.ends_with('\n')) pattern.remove_suffix(1);
  if (pattern.empty()) return {};
  if (pattern.front() == '|') return {CorePlace::Kind::kProgram, std::string(pattern.substr(1, pattern.find(' ') - 1))};

  std::string path;
  std::string glob;
  bool known = true;
  bool names_pid = false;
  const auto add = [&](const std::string& text) {
    path += text;
    glob += GlobEscaped(text);
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      add(std::string(1, pattern[i]));
      continue;
    }
    if (++i == pattern.size()) break;  // a single % at the end is dropped
    switch (pattern[i]) {
      case '%':
        add("%");
        break;
      case 'p':
        add(std::to_string(dumped.pid));
        names_pid = true;
        break;
      case 's':
        add(std::to_string(dumped.signal));
        break;
      case 'u':
        add(std::to_string(dumped.user));
        break;
      case 'g':
        add(std::to_string(dumped.group));
        break;
      case 'h':
        add(dumped.host);
        break;
      default:  // %e %E %f %t %c %d, and numbers of other namespaces: known only to the kernel
        glob += '*';
        known = false;
    }
  }
  if (uses_pid && !names_pid) add('.' + std::to_string(dumped.pid));
  if (!path.starts_with('/') && !glob.starts_with('/')) {
    path = dumped.cwd + '/' + path;
    glob = GlobEscaped(dumped.cwd) + '/' + glob;
  }
  return known ? CorePlace{CorePlace::Kind::kFile, std::move(path)}
               : CorePlace{CorePlace::Kind::kGlob, std::move(glob)};
}

}  // namespace muster
