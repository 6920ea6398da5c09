// What the plan of a run is bound to: hosts, ports, devices, cores and environments, and the files of the run directory
// that are made from these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/result.h"
#include "run/start/start_specs.h"

namespace muster {

class AgentLinks;
class FilesElsewhere;
struct LiveRun;

class RunBinding {
 public:
  // `binding` is the one that `run` shows to all.
  RunBinding(LiveRun& run, Binding& binding, AgentLinks& links, FilesElsewhere& files);

  const CallerEnvironment& surroundings() const { return surroundings_; }

  void SetCode(std::uint32_t host, ShippedPaths paths) { surroundings_.code[host] = std::move(paths); }
  // What processes of `place` find is from now on what they find on `host`, where they inherit this once it is
  // activated.
  void SetSurroundings(std::uint32_t host, std::uint32_t place, const std::vector<std::string>& inherited);
  // Empty, with the ports of `place` set, or why they are not.
  std::string SetPorts(std::uint32_t host, std::uint32_t place, const PortsHeld& held, PortChoice asked);
  // As many as were asked for.
  void SetCores(const AllocateResources& asked, const ResourcesAllocated& given);
  void SetHost(std::uint32_t place, HostBinding host) { binding_.hosts[place] = std::move(host); }
  // What is started from now on continues from this one.
  void SetCheckpoint(const std::string& path);

  // Once, when all but the hosts is set: records the binding, writes the files, and defines the environments.
  Result<void> Bind(std::vector<HostBinding> hosts);
  // What was made with `before` is made again where the binding has changed it.
  Result<void> Rebind(const Binding& before);

 private:
  std::string BindingFile() const;
  Result<void> DefineEnvironments();

  LiveRun& run_;
  Binding& binding_;
  AgentLinks& links_;
  FilesElsewhere& files_;
  CallerEnvironment surroundings_;
};

}  // namespace muster
