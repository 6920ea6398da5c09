// State of an agent's process that remains when the process serves one run after the other.
#pragma once

#include <string>
#include <utility>

#include <sys/resource.h>

#include "agent/processes/memory_kills.h"
#include "base/system/without.h"
#include "spawn/start/launcher.h"

namespace muster {

struct AgentProcess {
  // Arguments: RLIMIT_NOFILE of the processes that it starts; path of muster-agent; disabled mechanisms.
  AgentProcess(rlimit child_descriptors_limit, std::string program_path, const Without& without_mechanisms)
      : child_descriptors(child_descriptors_limit),
        program(std::move(program_path)),
        without(without_mechanisms),
        launcher(MechanismsBut(without)) {}

  rlimit child_descriptors;
  std::string program;
  Without without;
  Launcher launcher;
  MemoryKills memory_kills;
};

}  // namespace muster
