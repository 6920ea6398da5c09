// The properties of one host, as found by its agent, without judgement. The head decides whether they suit a job, and
// how hosts differ (src/run/hosts/host_differences.h).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace muster {

// A limit of getrlimit(2), as processes of a run inherit it.
struct LimitFact {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  std::string name;  // as in limits.conf(5): "nofile"
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;

  bool operator==(const LimitFact&) const = default;
};

// The file system of a folder: statfs(2) of its nearest existing parent.
struct DiskFact {
  std::string what;  // "run directory", "/tmp"
  std::string path;  // the path that was examined
  std::string kind;  // "ext4", "nfs"; the number if unknown
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;  // for this user
  std::uint64_t inodes = 0;      // 0: the file system has no such count
  std::uint64_t free_inodes = 0;
  std::string error;  // why it is not writable; empty if it is

  bool operator==(const DiskFact&) const = default;
};

struct ProgramFact {
  std::string name;  // as requested
  std::string path;  // empty: no executable was found
  std::string error;

  bool operator==(const ProgramFact&) const = default;
};

struct PythonFact {
  std::string program;                          // as requested
  std::string version;                          // empty: it printed none
  std::map<std::string, std::string> packages;  // with their versions
  std::string error;

  bool operator==(const PythonFact&) const = default;
};

// The result of a check on the host.
struct HostCheck {
  std::string kind;   // "mechanism", "cgroup", "node", "name", "ports", "time" (docs/doctor.md)
  std::string what;   // "pidfd", "/dev/davinci0"
  std::string error;  // empty: it succeeded

  bool operator==(const HostCheck&) const = default;
};

struct HostFacts {
  std::string muster;       // version of the agent
  std::string system;       // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;       // "6.1.0-18-amd64"
  std::string machine;      // "x86_64"
  bool root = false;        // the agent runs as root
  std::uint32_t cores = 0;  // that the agent may use
  std::uint64_t memory_bytes = 0;
  std::map<std::string, std::string> drivers;  // "nvidia" -> "535.54.03"
  std::string device_kind;                     // base/system/host_devices.h; empty: none known
  std::uint32_t devices = 0;
  std::vector<std::string> addresses;  // of active interfaces except loopback; ascending
  std::vector<LimitFact> limits;
  std::map<std::string, std::string> variables;  // of the agent's environment, those requested
  std::vector<DiskFact> disks;
  std::vector<ProgramFact> programs;
  std::vector<PythonFact> pythons;
  std::vector<HostCheck> trials;

  bool operator==(const HostFacts&) const = default;
};

}  // namespace muster
