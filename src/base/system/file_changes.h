// Reads file change events from inotify(7), one at a time. Does not depend on what is watched or
// why.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace muster {

struct FileChange {
  int watch = -1;          // -1 if `mask` has IN_Q_OVERFLOW: events were lost, so anything may have changed
  std::uint32_t mask = 0;  // IN_…
  std::string_view name;   // file name below a watched folder, else empty; valid during the callback only
};

// Reads events from a non-blocking inotify descriptor until it is empty and passes each one to the callback, in order.
// The callback may add and remove watches, but must not close the descriptor.
void ReadFileChanges(int inotify, const std::function<void(const FileChange&)>& tell);

}  // namespace muster
