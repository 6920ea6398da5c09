// The notes of a dump: why stacks or files are missing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "muster/event.h"

namespace muster {

// Bounded. Each kind once: a note about one process usually holds for all.
class DumpNotes {
 public:
  // `detail` is truncated to a bounded length. Further notes of the same kind are dropped.
  void Add(const std::string& kind, std::string detail);
  // Returns the notes in the order in which they were added, and clears them.
  std::vector<DumpNote> Take() { return std::exchange(notes_, {}); }

 private:
  std::vector<DumpNote> notes_;
};

}  // namespace muster
