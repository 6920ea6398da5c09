// A dump, folded: processes that are found in the same place are told once, and those that are found elsewhere than
// most of their role are called odd, because who hangs is who differs.
//
// Pure: knows the plan and what agents told, reads nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/report/failure_analysis.h"

namespace muster {

// Processes of one role that are found in the same place.
struct DumpGroup {
  Members who;
  bool odd = false;             // more than half of the role's processes are in one other place
  ProcessDumped first;          // of the first of them, or of the first with frames
  std::size_t place = 0;        // of the system process that says where it is, in first.states
  double busiest = 0;           // the most that any of them used of a processor, 1 being all of one
  double quietest_seconds = 0;  // for how long the one that wrote last had written nothing, …
  double longest_seconds = 0;   // … and the one that wrote first
  std::string last_line;        // of the first one's log, as it was then; empty if it had none (see ReadDumps)

  // What says where they are; nothing if nothing was found.
  const SystemProcessState* state() const;
  const ThreadState* thread() const;
};

// The system process that says where an attempt is: its own, or, while that only waits for one below it, that one.
// 0 if there is none.
std::size_t PlaceOf(const std::vector<SystemProcessState>& states);

// Two attempts are in the same place if the same program is at the same frames in its main thread; if nobody could see
// frames, if it is in the same state, wait channel and system call. Whether it runs or sleeps at that moment does not
// matter where frames are known; whether it is stuck in the kernel or stopped does. Of whom frames are not known is
// taken to be where all others of its role are of which the kernel says the same, if that is one place. Odd groups come
// first, the smallest before the others; then the plan's order. What names no process of the plan is left out, and so
// is whom `keep` does not keep, though it counts among its role.
std::vector<DumpGroup> FoldDump(const Plan& plan, const std::vector<ProcessDumped>& told,
                                const std::function<bool(ProcessId)>& keep = {});

}  // namespace muster
