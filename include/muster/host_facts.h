// What one host is like, as its agent found it: facts without a judgement. Whether they are right for a job, and how
// hosts differ, is for the head to say (src/run/hosts/host_differences.h).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace muster {

// A limit of getrlimit(2), as processes of a run get it.
struct LimitFact {
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  std::string name;  // as in limits.conf(5): "nofile"
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;

  bool operator==(const LimitFact&) const = default;
};

// The file system on which a folder is, or would be: statfs(2) of the nearest folder above it that is there.
struct DiskFact {
  std::string what;  // "run directory", "/tmp"
  std::string path;  // that was looked at
  std::string kind;  // "ext4", "nfs"; the number of an unknown one
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;  // for this user
  std::uint64_t inodes = 0;      // 0: the file system does not count them
  std::uint64_t free_inodes = 0;
  std::string error;  // why it cannot be written there; empty if it can

  bool operator==(const DiskFact&) const = default;
};

struct ProgramFact {
  std::string name;  // as it was asked for
  std::string path;  // empty: there is none that can be executed
  std::string error;

  bool operator==(const ProgramFact&) const = default;
};

struct PythonFact {
  std::string program;                          // as it was asked for
  std::string version;                          // empty: it told nothing
  std::map<std::string, std::string> packages;  // that it has, with their versions
  std::string error;

  bool operator==(const PythonFact&) const = default;
};

// Something that was tried there, and why it did not work.
struct TrialFact {
  std::string kind;   // "mechanism", "cgroup", "node", "name", "ports", "time" (docs/doctor.md)
  std::string what;   // "pidfd", "/dev/davinci0"
  std::string error;  // empty: it works

  bool operator==(const TrialFact&) const = default;
};

struct HostFacts {
  std::string muster;       // version of the agent
  std::string system;       // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;       // "6.1.0-18-amd64"
  std::string machine;      // "x86_64"
  bool root = false;        // the agent is root's
  std::uint32_t cores = 0;  // that the agent may use
  std::uint64_t memory_bytes = 0;
  std::map<std::string, std::string> drivers;  // "nvidia" -> "535.54.03"
  std::string device_kind;                     // base/system/host_devices.h; empty: none are known
  std::uint32_t devices = 0;
  std::vector<std::string> addresses;  // of interfaces that are up, loopback excepted; ascending
  std::vector<LimitFact> limits;
  std::map<std::string, std::string> variables;  // of the agent, those that were asked for
  std::vector<DiskFact> disks;
  std::vector<ProgramFact> programs;
  std::vector<PythonFact> pythons;
  std::vector<TrialFact> trials;

  bool operator==(const HostFacts&) const = default;
};

}  // namespace muster
