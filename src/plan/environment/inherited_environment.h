// Variables that a process has without a line in the recipe: those that it inherits, from its own host where they
// describe the host, without those that a contract owns, with the settings of the site; and the entries of PYTHONPATH
// for muster's Python side. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "muster/site.h"
#include "plan/environment/environment.h"

namespace muster {

// Variables in muster's own environment that processes do not inherit, because the framework's contract owns them.
// Pure.

// The names in `inherited` ("NAME=value") that a contract removes from some role, sorted. Variables of batch systems
// and other launchers are omitted: the user did not set them for these processes. `provenance`: by role, the layer that
// unsets each variable.
std::vector<std::string> RemovedByContract(
    const Plan& plan, const std::map<std::string, std::map<std::string, VariableSource>>& provenance,
    const std::vector<std::string>& inherited);

// Applies a site's environment settings to an inherited environment: the lowest layer above inheritance. Pure.

// `inherited` ("NAME=value") as processes inherit it at that site, before any activation. `PATH` always passes, because
// programs cannot be found without it.
std::vector<std::string> InheritedAtSite(const SiteEnvironment& site, const std::vector<std::string>& inherited);

// Which variables describe a host: processes on another host than that of `muster run` inherit them from their own
// host, because the caller's values are true only where muster was called. Pure.

// Devices and cores that a scheduler granted on one host, its addresses, its user, and paths that exist only there.
// docs/environment.md lists them. Sorted.
std::span<const std::string_view> HostVariableNames();

// `caller` ("NAME=value") without them, and without settings that name cores or devices by their numbers, such as
// OMP_PLACES={0,1}: what processes of other hosts inherit of the caller's environment.
std::vector<std::string> WithoutHostVariables(std::vector<std::string> caller);

// The names of those of the caller ("NAME=value") that a command which starts agents on other hosts does not get: srun
// and others pass their environment on, and the caller's devices would become those of each host.
std::vector<std::string> HostVariablesOfCaller(const std::vector<std::string>& caller);

// Those that the site lets processes inherit from their host, and does not set itself.
std::vector<std::string> HostVariablesAtSite(const SiteEnvironment& site);

// The entries of PYTHONPATH by which a launched Python finds muster's Python side, and so whether it gets its context
// automatically; also reads this from a plan (docs/python.md).
//
// Handles paths below the run directory and the form of commands; opens nothing.

// The folder below the run directory that holds muster_context/ and site/.
inline constexpr std::string_view kPythonFolder = "python";

enum class PythonUse : std::uint8_t {
  kNone,
  kOffered,  // a script can import muster_context
  kApplied   // … and the context is applied as soon as it imports mindspore
};

// The beginning of PYTHONPATH that has this effect; empty for kNone. It has no empty entry.
Text PythonPath(PythonUse use);

// The use that the environment of a process in a plan implies.
PythonUse PythonUseOf(const Variables& env);
// Whether any process of the plan needs the folder.
bool WantsPython(const Plan& plan);

// Whether the command itself names a Python interpreter or script. Programs that a shell or another program runs are
// not considered.
bool RunsPython(const std::vector<Text>& command);
// Whether any word names one, or a launcher of Python scripts such as torchrun; also within a shell text: "cd src &&
// python3 train.py". Offering muster's packages to such a command is harmless.
bool MentionsPython(const std::vector<Text>& command);

}  // namespace muster
