// What inotify(7) has to tell, one change at a time. Knows the kernel's records, not who waits for them nor what is
// watched.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace muster {

struct FileChange {
  int watch = -1;          // -1 if `mask` has IN_Q_OVERFLOW: changes were lost, anything may have happened
  std::uint32_t mask = 0;  // IN_…
  std::string_view name;   // below a watched folder, else empty; gone after the call
};

// Reads from a non-blocking inotify descriptor until it is empty, and tells each change in its order. The callback may
// add and remove watches, but not close the descriptor.
void ReadFileChanges(int inotify, const std::function<void(const FileChange&)>& tell);

}  // namespace muster
