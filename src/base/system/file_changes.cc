#include "base/system/file_changes.h"

#include <array>
#include <cstddef>
#include <cstring>

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace muster {

void ReadFileChanges(int inotify, const std::function<void(const FileChange&)>& tell) {
  alignas(inotify_event) std::array<char, 16U << 10> buffer;
  for (;;) {
    const ssize_t got = ::read(inotify, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += sizeof event;
      // The kernel pads names with zero bytes.
      const std::string_view name(buffer.data() + at, event.len);
      at += event.len;
      tell({event.wd, event.mask, name.substr(0, name.find('\0'))});
    }
  }
}

}  // namespace muster
