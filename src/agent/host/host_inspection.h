// Determines the properties of this host for the head: facts from files, probes of what the kernel and the system
// permit an agent, and the packages of Python interpreters. A child process of muster-agent reads files and probes,
// since that may wait for a file system; nothing here blocks the loop. Independent of policy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/processes/child_set.h"
#include "base/system/unique_fd.h"
#include "muster/host_facts.h"
#include "spawn/start/launcher.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Reads the properties of a host from files: system, drivers, limits, file systems, programs.
//
// Reads /proc, /sys, /etc and the places where vendors store driver versions; starts no program, loads no library and
// evaluates nothing. Unreadable properties stay empty. Folders may be on file systems that do not respond: the caller
// must be able to wait for ever (agent/host/host_inspection.h).

// Everything except disks, programs, Pythons, and driver versions in ordinary folders: none of this waits for a disk.
// `root` ends with a slash. `environment` is "NAME=value", `variables` NAME or PREFIX*.
HostFacts ReadHostFacts(const std::vector<std::string>& variables, const std::vector<std::string>& environment,
                        const std::string& root = "/");

// Driver versions by kind of device. cuda: /proc/driver/nvidia/version, or the version of the kernel module; hip: that
// of amdgpu; ascend: version.info in the folder named by /etc/ascend_install.info, /usr/local/Ascend by default.
std::map<std::string, std::string> ReadDrivers(const std::string& root = "/");

// The file system of the place. For a missing folder, that of its nearest existing parent.
DiskFact CheckDisk(const FolderQuery& place);

// As a start in `cwd` would find it.
ProgramFact FindProgramOnHost(const ProgramQuery& sought, const std::vector<std::string>& search_dirs,
                              const std::string& cwd);

// Probes what the host's kernel and system permit an agent: kernel mechanisms, creating a cgroup, device files, ports,
// the clock. Leaves no traces.

// `root` ends with '/' and is prepended to paths of devices and of /proc/sys, for tests. Call it in a separate process:
// one of the probes creates a cgroup, moves nothing into it, and removes it.
std::vector<HostCheck> TryHost(const std::string& root = "/");

// Evaluates `getent ahosts NAME` for the host's own name: its `output` and whether it succeeded.
HostCheck NameTrial(const std::string& name, const std::string& output, bool ended_well);

// Determines the properties of this host for the head: one child process of muster-agent inspects files, and each
// Python interpreter is queried for its packages.
//
// Handles processes, the clock and the output of Python; independent of policy. Nothing here blocks the loop: work that
// may wait for a file system or runs the user's code is done by a process with a deadline, and missing results are
// reported as missing.

// Parses the standard output of a Python, which may contain other text; sets `error` if it is incomplete.
PythonFact ParsePythonOutput(const std::string& program, std::string_view bytes);

// The child process: reads the frame of one Inspect, and writes an Inspected with the facts available at once, then one
// with all facts that require no further process. False if it reads another message.
bool InspectHost(int in, int out, const std::string& version);

class HostInspection {
 public:
  static constexpr std::size_t kMaxOutputBytes = 1U << 20;  // of each process

  struct Observer {
    std::function<void(const Inspected&)> done;  // called once for each Begin, unless Kill() was called before
    std::function<void()> idle;                  // called when none of its processes is running any more
  };

  // `agent`: path of muster-agent.
  HostInspection(boost::asio::io_context& io, Launcher& launcher, std::string agent, Observer observer);
  HostInspection(const HostInspection&) = delete;
  HostInspection& operator=(const HostInspection&) = delete;

  // Must not be called while going(). The variables of `command` are valid; `descriptors` is the limit for processes.
  void Begin(Inspect command, const ResourceLimit& descriptors);
  bool going() const { return going_ || !commands_.empty(); }
  // Kills its processes; nothing is reported any more.
  void Kill();

  // For its processes, as in ChildSet.
  bool Owns(pid_t pid) const { return commands_.Owns(pid); }
  bool Ended(pid_t pid) { return commands_.Ended(pid); }
  bool empty() const { return commands_.empty(); }
  // Forgets them, to be killed by other means.
  void Abandon();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  // Process numbers: 0 inspects files, n queries Python n - 1, and the next one looks up the host's name.
  std::uint32_t NameNumber() const { return static_cast<std::uint32_t>(command_.pythons.size()) + 1; }
  tl::expected<void, SpawnError> Start(std::uint32_t number, const ResourceLimit& descriptors);
  void OnExited(const ProcessExited& event);
  void ReportSoon();
  void Report();

  boost::asio::io_context& io_;
  Observer observer_;
  std::string agent_;
  ChildSet commands_;
  Timer deadline_;
  bool going_ = false;
  Inspect command_;
  std::uint64_t asked_at_ = 0;
  std::map<std::uint32_t, UniqueFd> outputs_;
  std::map<std::uint32_t, std::string> failures_;  // of processes that could not be started or failed
};

}  // namespace muster
