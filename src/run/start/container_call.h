// Puts the start of a process into the container of its role: its command becomes the arguments of the runtime's
// program. Pure: computes words and variables, and starts nothing.
//
// Values of variables are not in the words, which all users of a host can read: the runtime takes them from its own
// environment. Only those of ContainerRuntime::own are, which would otherwise change the runtime.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "wire/protocol/start_messages.h"

namespace muster {

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

}  // namespace muster
