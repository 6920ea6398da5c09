// A process of the plan that a dump inspects, with its descendants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "agent/dump/dump_summary.h"
#include "base/system/clock.h"
#include "base/system/open_below.h"
#include "muster/event.h"

namespace muster {

struct DumpSubject {
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // A running process to inspect.
  struct Target {
    Key key;
    pid_t pid = 0;
    std::string title;  // first line of its file
    FileBelow file;     // the file to create
    FileBelow log;
    std::string search_path;  // PATH on which tools are looked up
  };

  Target target;
  std::vector<FoundProcess> found;
  MonotonicNs first_look = 0;
  ProcessDumped reported;
  std::size_t tools_left = 0;  // waiting or running
  bool let_go = false;         // about to be stopped: no tool may attach to it
};

}  // namespace muster
