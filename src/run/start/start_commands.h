// Computes the start commands of a plan's processes, for the agents of their hosts. Pure: opens nothing, sends nothing
// and starts nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/start/start_specs.h"
#include "wire/protocol/start_messages.h"

namespace muster {

// Computes the start command of each process. The arguments must outlive it. A port is released with its owner if that
// is on the port's host, else with the first process (in plan order) of that host. An owner on the port's host has it
// exclusively.
class StartCommands {
 public:
  StartCommands(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings);

  // `terminal`: its output will be a terminal.
  Result<StartProcess> Of(ProcessId process, std::uint32_t attempt, bool terminal = false) const;

 private:
  Result<ReadyWhen> ReadyOf(const Process& process, std::uint32_t attempt) const;
  // The text with the paths of shipped code on the process's host, and with its placeholders filled.
  Result<std::string> Filled(const Process& process, const Text& text, std::uint32_t attempt) const;

  const Plan& plan_;
  const Binding& binding_;
  const CallerEnvironment& surroundings_;
  struct Ports {  // by name
    std::vector<std::string> released;
    std::vector<std::string> own;
  };
  std::map<ProcessId, Ports> ports_;
};

}  // namespace muster
