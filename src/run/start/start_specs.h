// Computes the commands for agents and the files of the run directory from a plan and its binding: activation of
// hosts, devices, ports, and paths of shipped code. Pure: opens nothing, sends nothing and starts nothing. The start
// commands of processes are in start_commands.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/tree.h"
#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/run_files.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Conditions of a run for the devices of its hosts that are not part of its plan.
struct DeviceTerms {
  std::uint64_t wait_ms = 0;     // AllocateResources::wait_ms: kWaitForEver without a limit
  std::uint32_t per_device = 0;  // AllocateResources::per_device
  std::string sweep = {};  // id of the sweep if the run is a trial: a sweep has one place in the queue for devices
};

// Maps paths of shipped code to a host's copy: paths of a plan below the shipped folder become paths below the copy.
// Pure text.
class ShippedPaths {
 public:
  ShippedPaths() = default;
  // `folder`: path of the tree on the host.
  ShippedPaths(std::shared_ptr<const CodeTree> tree, std::string folder)
      : tree_(std::move(tree)), folder_(std::move(folder)) {}

  // The text in which every path below the tree's folder is replaced by its path in the copy, if the file or its folder
  // was shipped. A path begins at the beginning of a word, or after a character that cannot be part of one
  // (--file=PATH, A:B, 'PATH').
  std::string Led(std::string_view text) const;
  // The copy on the host.
  const std::string& folder() const { return folder_; }

 private:
  std::string LedFrom(const std::string& root, std::string_view text) const;
  bool IsShipped(std::string_view below) const;

  std::shared_ptr<const CodeTree> tree_;
  std::string folder_;
};

// Computes the commands for agents and the files of the run directory from a plan and its binding. Pure: opens nothing,
// sends nothing and starts nothing. The start commands of processes are in start_commands.h.

// The environment of the muster process that a start uses.
struct CallerEnvironment {
  std::vector<std::string> environment;  // "NAME=value"
  std::string cwd;                       // absolute
  std::vector<std::string> search_dirs;
  // What processes inherit from their own host; nothing on that of the caller.
  HostVariables of_host = {};
  // By host: the environment after its activation; only for hosts that were activated.
  std::map<std::uint32_t, std::vector<std::string>> activated = {};

  // By host: what its activation removed.
  std::map<std::uint32_t, std::vector<std::string>> removed = {};

  // By host or number of a spare: where shipped code is on it; only for hosts that it was shipped to.
  std::map<std::uint32_t, ShippedPaths> code = {};

  // The text with the host's paths of shipped code.
  std::string Led(std::uint32_t host, std::string_view text) const {
    const auto found = code.find(host);
    return found == code.end() ? std::string(text) : found->second.Led(text);
  }

  // Replaces the values of all variables in the same way.
  void Lead(std::uint32_t host, Variables& variables) const {
    for (auto& [name, value] : variables) value = Text(Led(host, value.marked));
  }

  // The variables of the host itself that its processes inherit, without names and patterns in `unset`.
  HostVariables OfHost(std::uint32_t host, const std::vector<std::string>& unset = {}) const;

  // The environment that processes of the host inherit from the caller, changed by its activation.
  const std::vector<std::string>& Inherited(std::uint32_t host) const {
    const auto found = activated.find(host);
    return found == activated.end() ? environment : found->second;
  }
};

// The ports that host `host` must hold, by name: all, or those whose number muster chooses.
enum class PortChoice : std::uint8_t { kAll, kAuto };
HoldPorts PortsOfHost(const Plan& plan, std::uint32_t host, PortChoice choice = PortChoice::kAll);

// The request to host `host` for devices and cores of the job. Empty if the job uses neither there. `pid` is the
// head's.
std::optional<AllocateResources> AllocationRequestOf(const Plan& plan, std::uint32_t host, const std::string& run_id,
                                                     std::int32_t pid, const DeviceTerms& terms = {});

// Blocks of variables, one per role that has processes on the host; the block's number is the role's index.
Result<std::vector<DefineEnvironment>> EnvironmentBlocks(const Plan& plan, const Binding& binding,
                                                         const CallerEnvironment& surroundings, std::uint32_t host);

// The secrets of a process's context: name -> number of the descriptor at which the process finds the value. The
// numbers depend only on the plan; each attempt has its own descriptors. Runtimes of containers pass descriptors from 3
// on without a gap.
std::map<std::string, std::int32_t> SecretDescriptors(const Plan& plan, const Process& process);

// Files by path below the run directory: context/<role>.<index>.json for every process of a plan with a release, the
// plan's own files with placeholders filled, and muster's Python files if a process needs them. A context has
// {"secret_fd": number} in place of a secret.
Result<std::map<std::string, std::string>> GeneratedFiles(const Plan& plan, const Binding& binding);

// "worker.2" -> "0-3": the cores of processes that were given some.
std::map<std::string, std::string> CoreTexts(const Plan& plan, const Binding& binding);

// Contents of binding.json besides the binding, which is written without its secrets.
struct BoundBesides {
  std::string code;     // hash of the shipped tree, if there is one
  std::string resumed;  // id of the run that this one resumes, if any
};
Value BindingValue(const Plan& plan, const Binding& binding, const BoundBesides& besides = {});

// The schemas (wire/archive/json_schema.h) of binding.json and of the context files of processes.
std::string BindingSchema();
std::string ContextFileSchema();

// Values of the plan's secrets. Kind "secret" for a variable that is not set, a file that cannot be read or is longer
// than 1 MiB, and a value that cannot be in an environment; the message never contains the value.
Result<std::map<std::string, std::string>> ResolveSecrets(const Plan& plan,
                                                          const std::vector<std::string>& environment);

// The role with its variables and its container adapted to the host's paths of shipped code.
Role RoleOn(const CallerEnvironment& surroundings, std::uint32_t host, Role role);

// The activation of hosts, for the head: the command to an agent, the environment that its answer makes for processes,
// and texts about it. Pure.

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
