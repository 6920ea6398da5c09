// What an agent keeps of a running process of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <sys/types.h>

#include "base/system/open_below.h"
#include "muster/event.h"

namespace muster {

struct RunningProcess {
  pid_t pid = 0;  // as the agent itself knows it
  std::string log_path;
  FileBelow log;
  std::string mark;         // "MUSTER_PROCESS=…", or empty
  std::string search_path;  // its PATH
};

// By process and attempt.
using RunningProcessTable = std::map<std::pair<ProcessId, std::uint32_t>, RunningProcess>;

}  // namespace muster
