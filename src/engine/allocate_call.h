// The command that holds an allocation of an engine for as long as a program runs in it, and what that program, `cat`,
// says about the allocation. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/allocation.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "muster/result.h"

namespace muster {

// The page's command with `cat` behind it, which prints the environment inside of the allocation and then what it reads
// at stdin. The allocation ends with its stdin, and so with this process. `nodes` is the number of hosts. Kind "usage":
// a text of `extra` cannot be split into words.
Result<std::vector<std::string>> AllocateWords(const EnginePage& page, const EngineSettings& settings,
                                               const std::string& name, std::uint32_t nodes);

// What is to be written to its stdin at once: it ends the environment.
inline constexpr std::string_view kAfterEnvironment{"\0", 1};

// The variables that it has printed, "NAME=value"; nothing as long as some are missing. `output` is untrusted.
std::optional<std::vector<std::string>> EnvironmentIn(std::string_view output);

// Those that the command has set or changed: not in `before`.
std::vector<std::string> AddedVariables(const std::vector<std::string>& environment,
                                        const std::vector<std::string>& before);

// The id of the job in its error output, which is known while the job is queued; empty if it is not there (yet).
std::string AllocatedJob(const EnginePage& page, std::string_view words);

// The allocation in whose environment that is. Devices are not counted: they are those that were asked for. Kinds of
// ReadAllocation.
Result<Allocation> AllocationOf(const EnginePage& page, const std::vector<std::string>& environment);

}  // namespace muster
