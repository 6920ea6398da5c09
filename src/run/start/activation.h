// The activation of hosts, for the head: the command to an agent, the environment that its answer makes for processes,
// and texts about it. Pure.
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

// Timeout for all steps of one host together, unless the job has a limit for its start.
inline constexpr std::uint32_t kActivationMs = 300'000;

// "logs/activation.host0.log", relative to the run directory.
std::string ActivationLogPath(const Plan& plan, std::uint32_t host);

// The environment before activation: `inherited` ("NAME=value") without the variables that secrets are taken from, and
// without muster's own.
std::vector<std::string> BeginningEnvironment(const Plan& plan, const std::vector<std::string>& inherited);

// The command to the host's agent. The shell gets the environment that processes inherit, without the variables that
// secrets are taken from, and has the run's marks like any process, so that none of its processes can remain unnoticed.
Activate ActivateHost(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings,
                      std::uint32_t host);

// "step 2 (module cuda/12)"; "the shell" for 0 and for numbers that are no step of the plan.
std::string ActivationStepText(const Plan& plan, std::uint32_t step);

// Why no process is started: "the activation of node-1 failed in step 2 (module cuda/12): exit code 1".
std::string ActivationFailure(const Plan& plan, const std::string& host_name, const HostActivated& reported);

// The answer without variables that only muster may set.
HostActivated WithoutOwnVariables(HostActivated reported);

// The answer with hidden secret values, for files.
HostActivated Shown(HostActivated reported, const HiddenValues& hidden);

// `inherited` ("NAME=value") with the changes of the answer.
std::vector<std::string> ActivatedEnvironment(const std::vector<std::string>& inherited, const HostActivated& reported);

}  // namespace muster
