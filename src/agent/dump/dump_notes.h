// The notes of a dump: why stacks or files are missing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "muster/event.h"

namespace muster {

// Bounded: each kind once, because a note about one process usually holds for all.
class DumpNotes {
 public:
  // `detail` is cut to a bounded length. A further note of a kind is dropped.
  void Add(const std::string& kind, std::string detail);
  // Returns the notes in the order in which they were added, and forgets them.
  std::vector<DumpNote> Take() { return std::exchange(notes_, {}); }

 private:
  std::vector<DumpNote> notes_;
};

}  // namespace muster
