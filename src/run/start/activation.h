// The activation of hosts, from the head's side: what an agent is told to do, what its answer makes of the environment
// that processes inherit, and how it is told. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "run/start/start_specs.h"
#include "wire/protocol/activation_messages.h"

namespace muster {

// How long the steps of one host may take together, unless the job has a limit for its start.
inline constexpr std::uint32_t kActivationMs = 300'000;

// "logs/activation.host0.log", relative to the run directory.
std::string ActivationLogPath(const Plan& plan, std::uint32_t host);

// What a host begins with: `inherited` ("NAME=value") less the variables that secrets are taken from, and muster's own.
std::vector<std::string> BeginningEnvironment(const Plan& plan, const std::vector<std::string>& inherited);

// What the host's agent is told. The shell has what processes inherit, less the variables that secrets are taken from,
// and carries the run's marks as a process does, so that nothing of it can be left behind unnoticed.
Activate ActivateHost(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings,
                      std::uint32_t host);

// "step 2 (module cuda/12)"; "the shell" for 0, or what is no step of the plan.
std::string ActivationStepText(const Plan& plan, std::uint32_t step);

// Why nothing is started: "the activation of node-1 failed in step 2 (module cuda/12): exit code 1".
std::string ActivationFailure(const Plan& plan, const std::string& host_name, const HostActivated& told);

// The answer without variables that are muster's own to set.
HostActivated WithoutOwnVariables(HostActivated told);

// The answer as it may be written down.
HostActivated Shown(HostActivated told, const HiddenValues& hidden);

// `inherited` ("NAME=value") with the changes.
std::vector<std::string> ActivatedEnvironment(const std::vector<std::string>& inherited, const HostActivated& told);

}  // namespace muster
