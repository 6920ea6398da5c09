// What an agent stores about a running process of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/system/open_below.h"
#include "muster/event.h"

namespace muster {

struct RunningProcess {
  pid_t pid = 0;  // in the agent's own PID namespace
  std::string log_path;
  FileBelow log;
  std::string mark;                 // "MUSTER_PROCESS=…", or empty
  std::string search_path;          // its PATH
  std::vector<std::string> remove;  // StartProcess::remove
  bool signalled = false;           // by this agent
};

// By process and attempt.
using RunningProcessTable = std::map<std::pair<ProcessId, std::uint32_t>, RunningProcess>;

}  // namespace muster
