// The places of processes in a dump: which are in the same place, and which differ from most of their role.
//
// Two attempts are in the same place if the same program has the same frames in its main thread; without known frames,
// if the state, wait channel and system call are the same. With known frames it does not matter whether a process is
// running or sleeping at that moment, but whether it is stuck in the kernel or stopped. A process without known frames
// counts as being in the place of the other processes of its role with the same kernel state, if they are all in one
// place.
//
// Pure. A place is compared by hashes, so that those of many processes can be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"

namespace muster {

// The index of the system process that defines the place of an attempt: its own, or, if it only waits for a child, that
// child's. 0 if there is none.
std::size_t PlaceOf(const std::vector<SystemProcessState>& states);

struct DumpPlace {
  std::uint64_t kernel = 0;                  // state of the main thread in the kernel
  std::optional<std::uint64_t> frames = {};  // of the main thread; empty if they are not known
};
DumpPlace PlaceIn(const ProcessDumped& reported);

struct PlacedProcess {
  std::uint32_t role = 0;
  std::optional<DumpPlace> place = {};  // empty if it was not reported: neither in a place nor an outlier
};

struct ComparedPlaces {
  // By process: equal for those of the same role in the same place; numbered by first appearance. A process without a
  // place has a number of its own.
  std::vector<std::size_t> number;
  std::vector<bool> outlier;  // by process: more than half of its role are in one other place
};
ComparedPlaces ComparePlaces(const std::vector<PlacedProcess>& processes);

}  // namespace muster
