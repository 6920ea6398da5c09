// The dump that is being taken: which machines have not answered yet, and what waits for its end. There is one at a
// time; a second request joins it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "run/supervise/silence_watch.h"

namespace muster {

class Orders;

class DumpRound {
 public:
  // What waits for the end of a dump.
  struct Waiting {
    std::optional<StopRequested> stop;
    std::optional<SilenceWatch::Silent> silent;
    std::uint32_t silent_attempt = 0;  // of the process that fell silent first
  };

  // Orders a dump of all machines that are not over, unless one is being taken.
  void Begin(std::string_view why, const std::vector<bool>& over, Orders& orders);
  bool under_way() const { return under_way_; }
  // Of the dump that is being taken, or the last one; from 1. 0: there was none.
  std::uint32_t number() const { return number_; }
  bool complete() const { return left_ == 0; }

  // Only while a dump is being taken. A stop replaces the one that waited before; of silences the first stays.
  void DelayStop(const StopRequested& stop) { waiting_.stop = stop; }
  void DropStop() { waiting_.stop.reset(); }
  void DelaySilence(const SilenceWatch::Silent& silent, std::uint32_t attempt);
  const Waiting& waiting() const { return waiting_; }

  // The machine has sent all of that dump, or never will. Whether the dump is complete by that.
  bool Answered(std::uint32_t machine, std::uint32_t dump);
  // Ends the dump; returns what waited for it. Only while one is being taken.
  Waiting End(bool complete, Orders& orders);

 private:
  std::uint32_t number_ = 0;
  bool under_way_ = false;
  std::vector<bool> due_;  // of each machine: its answer is missing
  std::uint32_t left_ = 0;
  Waiting waiting_;
};

}  // namespace muster
