// The binding of a run: hosts, ports, devices, cores and environments of its plan, and other ports if a foreign
// process took one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/binding.h"
#include "muster/result.h"
#include "run/start/start_specs.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The binding of a run: hosts, ports, devices, cores and environments of its plan, and the files of the run directory
// that depend on them.

class AgentLinks;
class FilesElsewhere;
struct LiveRun;

class RunBinding {
 public:
  // `binding` is the one to which `run` refers.
  RunBinding(LiveRun& run, Binding& binding, AgentLinks& links, FilesElsewhere& files);
  ~RunBinding();
  RunBinding(const RunBinding&) = delete;
  RunBinding& operator=(const RunBinding&) = delete;

  const CallerEnvironment& surroundings() const { return surroundings_; }

  void SetCode(std::uint32_t host, ShippedPaths paths) { surroundings_.code[host] = std::move(paths); }
  // Processes of `place` get the environment of `host` from now on; `inherited` is its environment after
  // activation, which removed `removed`.
  void SetSurroundings(std::uint32_t host, std::uint32_t place, const std::vector<std::string>& inherited,
                       const std::vector<std::string>& removed);
  // Sets the ports of `place`. Returns an empty text, or why they could not be set.
  std::string SetPorts(std::uint32_t host, std::uint32_t place, const PortsHeld& held, PortChoice asked);
  // Sets the cores, as many as were requested.
  void SetCores(const AllocateResources& asked, const ResourcesAllocated& given);
  void SetHost(std::uint32_t place, HostBinding host) { binding_.hosts[place] = std::move(host); }
  // Processes that are started from now on continue from this checkpoint.
  void SetCheckpoint(const std::string& path);

  // Called once, when everything except the hosts is set: records the binding, writes the files, and defines the
  // environments.
  Result<void> Bind(std::vector<HostBinding> hosts);
  // Writes again what has changed in the binding since `before`.
  Result<void> Rebind(const Binding& before);

 private:
  // If another user could replace the run directory, the files for processes of this machine are also in a folder in
  // which nobody can (Binding::files_dir).
  void KeepFilesFromOthers();
  // Writes the files to the run directory; the Python packages of a trial are those of the sweep's copy.
  Result<void> WriteToDirectory(const std::map<std::string, std::string>& files);
  std::string BindingFile() const;
  Result<void> DefineEnvironments();

  LiveRun& run_;
  Binding& binding_;
  AgentLinks& links_;
  FilesElsewhere& files_;
  CallerEnvironment surroundings_;
  UniqueFd kept_;
};

// Changes the ports of the whole plan after a foreign process took one: the hosts hold new ports, and the files of the
// run are written again.

class PortReplacement {
 public:
  PortReplacement(LiveRun& run, AgentLinks& links, RunBinding& bound) : run_(run), links_(links), bound_(bound) {}

  // Requests ports of all hosts of the plan; PlanRebound follows.
  void Begin();
  bool active() const { return before_.has_value(); }
  // Must only be called while it is active.
  void OnPortsHeld(std::uint32_t host, const PortsHeld& held);

 private:
  LiveRun& run_;
  AgentLinks& links_;
  RunBinding& bound_;
  std::optional<Binding> before_;  // the binding of the current files of the run
  std::uint32_t answers_due_ = 0;
  std::string error_;  // the first one
};

}  // namespace muster
