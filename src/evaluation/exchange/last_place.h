// How far an evaluation came, in memory that the evaluator shares with its parent: written by the child as it goes,
// read by the parent when the child had to be killed or crashed. Knows neither Lua nor processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "muster/diagnostic.h"

namespace muster {

// The writer may be killed between any two instructions, so a place is written beside the one that counts and
// counts from the moment `current` names it: a reader finds the old one or the new one, never a mixture.
struct LastPlace {
  struct Slot {
    std::uint32_t line = 0;
    char file[1020] = {};  // cut where it is longer
  };

  void Note(std::string_view file, std::uint32_t line);
  // Nothing (line 0) if none was noted, or if what stands there is not text: a recipe that took over the evaluator
  // can write here what it likes.
  Place Read() const;

  std::atomic<std::uint32_t> current = 0;  // 0: none yet; else 1 + an index of `slots`
  Slot slots[2];
};

}  // namespace muster
