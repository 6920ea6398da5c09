// Computes the start commands of a plan's processes, for the agents of their hosts; in a container, the command
// becomes the arguments of the runtime's program. Pure: opens nothing, sends nothing and starts nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/start/start_specs.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Puts the start of a process into the container of its role: its command becomes the arguments of the runtime's
// program. Pure: computes words and variables, and starts nothing.
//
// Values of variables are not in the words, which all users of a host can read: the runtime takes them from its own
// environment. Only those of ContainerRuntime::own are, which would otherwise change the runtime.

struct ContainerCall {
  const Plan& plan;
  const Process& process;  // with its host's paths of shipped code, as `plan`'s role
  const Role& role;
  const Binding& binding;
  std::uint32_t attempt = 0;
  const std::vector<std::string>& inherited;  // by the runtime: "NAME=value"
  std::string code;                           // the folder of shipped code on the host; empty: none
  bool terminal = false;
};

// Changes argv, env, cwd's mount and `remove` of a start that is otherwise complete. Kind "container" for a secret that
// the runtime cannot keep out of its words, kind "binding" as FillPlaceholders.
Result<void> PutIntoContainer(const ContainerCall& call, StartProcess& start);

// The role as its runtime's environment is composed: without the variables in ContainerRuntime::own. The same role if
// it has no container.
Role RoleOutside(Role role);

// "muster-RUN-worker.2.0": the name of the container of an attempt, of letters, digits, '_', '-' and '.'.
std::string ContainerName(const Plan& plan, const Process& process, const std::string& run_id, std::uint32_t attempt);

// Computes the start commands of a plan's processes, for the agents of their hosts. Pure: opens nothing, sends nothing
// and starts nothing.

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
