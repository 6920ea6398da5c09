// The allocation of an engine that a process is in: its job, and its hosts with their devices.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_page.h"
#include "muster/result.h"
#include "muster/site.h"

namespace muster {

struct AllocatedHost {
  std::string name;
  std::uint32_t position = 0;            // its first one in the engine's own list, which may name a host several times
  std::optional<std::uint32_t> devices;  // that the allocation has there; none: the engine does not say
  // The tasks there that its user asked for; none: only one on each host, as for a launcher.
  std::optional<std::uint32_t> tasks = std::nullopt;
  std::optional<std::uint32_t> room = std::nullopt;  // for tasks, if no number of them was asked for

  bool operator==(const AllocatedHost&) const = default;
};

struct Allocation {
  std::string job;
  std::vector<AllocatedHost> hosts;  // in the engine's order, each once

  bool operator==(const Allocation&) const = default;
};

// What a page may ask of the world. Each is called at most a few times.
struct AllocationSources {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<Result<std::string>(const std::string& path)> file;                    // its content
  std::function<Result<std::string>(const std::vector<std::string>& command)> output;  // of a command
  std::string otherwise = {};  // what the user can do without an allocation, as a hint; empty: this one is asked for
};

// Whether the page's variable says that this is inside an allocation.
bool IsInside(const EnginePage& page, const AllocationSources& sources);

// The allocation; call it only inside one. Kind "engine": a variable is missing, or what an engine printed cannot be
// read; else what `file` and `output` fail with.
Result<Allocation> ReadAllocation(const EnginePage& page, const AllocationSources& sources);

// The names of a host list, in order, with the first position of each. Kind "engine".
Result<std::vector<AllocatedHost>> ReadEngineHosts(const EnginePage& page, std::string_view text);

// The hosts that a text of the page's form names; its command expands one that muster cannot read
// (EngineHosts::expand).
using ExpandHosts = std::function<Result<std::vector<AllocatedHost>>(std::string_view text)>;

// Adds the devices that the output of EngineDevices::command names: text with "Nodes=LIST" and "GRES=KIND:N(IDX:LIST)";
// at most as many per host as "TresPerNode=gres:KIND:N" says, which is what the steps of a job get on each node.
// Without any device in it the numbers stay unknown. Fails with what `expand` fails with.
Result<void> AddDevices(const EnginePage& page, std::string_view output, const ExpandHosts& expand,
                        std::vector<AllocatedHost>& hosts);

// Adds the tasks or the room that `numbers` (EngineTasks::variable) names. Nothing if they are not those of these
// hosts, as in a step of an allocation.
void AddTasks(std::string_view numbers, bool asked, std::vector<AllocatedHost>& hosts);

// As hosts of a site (muster/site.h).
std::vector<SiteHost> HostsOf(const Allocation& allocation);

}  // namespace muster
