// Files whose text the kernel makes: those of proc(5), sysfs(5) and cgroups(7).
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/unique_fd.h"

namespace muster {

// The whole text of such a file, of which no size is known before it is read; nothing if it cannot be read.
inline std::optional<std::string> KernelFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;  // not zeroed: most texts are short
  for (;;) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

// The same, where a file that cannot be read is like an empty one.
inline std::string KernelText(const std::string& path) { return KernelFile(path).value_or(std::string()); }

// The first line of such a text.
inline std::string KernelLine(const std::string& path) {
  const std::string text = KernelText(path);
  return text.substr(0, text.find('\n'));
}

}  // namespace muster
