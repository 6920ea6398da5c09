#include "agent/host/host_facts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <tuple>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/devices/host_cores.h"
#include "base/system/host_devices.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of `name` in a file of NAME=VALUE lines, without quotes; empty if there is none.
std::string Assigned(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != '=') continue;
    std::string value = line.substr(name.size() + 1);
    std::erase_if(value, [](char c) { return c == '"' || c == '\r'; });
    return value;
  }
  return {};
}

std::uint64_t MemoryBytes(const std::string& root) {
  std::ifstream file(root + "proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  while (file >> name) {
    if (name == "MemTotal:" && file >> kib) return kib * 1024;
    std::getline(file, name);
  }
  return 0;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023": the first word that
// consists of digits and dots.
std::string NvidiaVersion(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return {};
}

std::vector<LimitFact> Limits() {
  using Known = std::tuple<const char*, __rlimit_resource>;
  constexpr std::array<Known, 5> kKnown = {{{"nofile", RLIMIT_NOFILE},
                                            {"memlock", RLIMIT_MEMLOCK},
                                            {"nproc", RLIMIT_NPROC},
                                            {"stack", RLIMIT_STACK},
                                            {"core", RLIMIT_CORE}}};
  const auto number = [](rlim_t value) {
    return value == RLIM_INFINITY ? LimitFact::kUnlimited : std::uint64_t{value};
  };
  std::vector<LimitFact> limits;
  for (const auto& [name, resource] : kKnown) {
    rlimit limit = {};
    if (::getrlimit(resource, &limit) == 0) limits.push_back({name, number(limit.rlim_cur), number(limit.rlim_max)});
  }
  return limits;
}

std::vector<std::string> Addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> held(all, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text = {};
    const void* bytes = nullptr;
    if (each->ifa_addr->sa_family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&address)) bytes = &address;
    }
    if (bytes != nullptr && ::inet_ntop(each->ifa_addr->sa_family, bytes, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

bool IsAskedFor(std::string_view name, const std::vector<std::string>& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  });
}

// Numbers from statfs(2), and from the sources of file systems outside the kernel.
std::string KindOfFileSystem(std::uint64_t magic) {
  using Known = std::pair<std::uint64_t, const char*>;
  constexpr std::array<Known, 15> kKnown = {{{0xef53, "ext4"},
                                             {0x58465342, "xfs"},
                                             {0x9123683e, "btrfs"},
                                             {0x2fc12fc1, "zfs"},
                                             {0x01021994, "tmpfs"},
                                             {0x858458f6, "ramfs"},
                                             {0x794c7630, "overlay"},
                                             {0x6969, "nfs"},
                                             {0xff534d42, "cifs"},
                                             {0xfe534d42, "smb2"},
                                             {0x65735546, "fuse"},
                                             {0x00c36400, "ceph"},
                                             {0x0bd00bd0, "lustre"},
                                             {0x47504653, "gpfs"},
                                             {0x19830326, "beegfs"}}};
  const auto* const found =
      std::find_if(kKnown.begin(), kKnown.end(), [magic](const Known& known) { return known.first == magic; });
  return found == kKnown.end() ? fmt::format("{:#x}", magic) : found->second;
}

}  // namespace

HostFacts ReadHostFacts(const std::vector<std::string>& variables, const std::vector<std::string>& environment,
                        const std::string& root) {
  HostFacts facts;
  facts.system = Assigned(root + "etc/os-release", "PRETTY_NAME");
  facts.kernel = FirstLine(root + "proc/sys/kernel/osrelease");
  utsname names = {};
  if (::uname(&names) == 0) facts.machine = names.machine;
  facts.root = ::geteuid() == 0;
  facts.cores = static_cast<std::uint32_t>(OwnCores().size());
  facts.memory_bytes = MemoryBytes(root);
  const HostDeviceCount devices = CountDevices({}, root);
  facts.device_kind = devices.kind;
  facts.devices = devices.count;
  facts.addresses = Addresses();
  facts.limits = Limits();
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || !IsAskedFor(std::string_view(entry).substr(0, equals), variables)) continue;
    facts.variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return facts;
}

std::map<std::string, std::string> ReadDrivers(const std::string& root) {
  std::map<std::string, std::string> drivers;
  const auto add = [&drivers](const char* kind, const std::string& version) {
    if (!version.empty()) drivers.emplace(kind, version);  // the first known version is used
  };
  add("cuda", NvidiaVersion(FirstLine(root + "proc/driver/nvidia/version")));
  add("cuda", FirstLine(root + "sys/module/nvidia/version"));
  add("hip", FirstLine(root + "sys/module/amdgpu/version"));
  std::string installed = Assigned(root + "etc/ascend_install.info", "Driver_Install_Path_Param");
  if (!installed.starts_with('/')) installed = "/usr/local/Ascend";
  add("ascend", Assigned(root + installed.substr(1) + "/driver/version.info", "Version"));
  return drivers;
}

DiskFact CheckDisk(const FolderQuery& place) {
  DiskFact disk;
  disk.what = place.what;
  std::filesystem::path path = place.path;
  struct statfs found = {};
  while (::statfs(path.c_str(), &found) != 0) {
    if ((errno != ENOENT && errno != ENOTDIR) || path == path.parent_path()) {
      disk.path = path;
      disk.error = std::strerror(errno);
      return disk;
    }
    path = path.parent_path();
  }
  disk.path = path;
  disk.kind = KindOfFileSystem(static_cast<std::uint32_t>(found.f_type));
  const auto size = static_cast<std::uint64_t>(found.f_bsize);
  disk.bytes = found.f_blocks * size;
  disk.free_bytes = found.f_bavail * size;
  disk.inodes = found.f_files;
  disk.free_inodes = found.f_ffree;
  if (::access(path.c_str(), W_OK | X_OK) != 0) disk.error = std::strerror(errno);
  return disk;
}

ProgramFact FindProgramOnHost(const ProgramQuery& sought, const std::vector<std::string>& search_dirs,
                              const std::string& cwd) {
  SpawnSpec spec;
  spec.argv = {sought.name};
  spec.search_dirs = search_dirs;
  spec.cwd = cwd;
  // Without a PATH of the head's environment, this host's own is inherited (HostVariables).
  const char* own = std::getenv("PATH");
  const std::string path = "PATH=" + (sought.search_path.empty() && own != nullptr ? own : sought.search_path);
  spec.env = {path.c_str()};
  ProgramFact fact;
  fact.name = sought.name;
  auto found = FindProgram(spec);
  if (!found) {
    fact.error = std::strerror(found.error().error);
    return fact;
  }
  fact.path = found->starts_with('/') ? *found : cwd + '/' + *found;
  return fact;
}

}  // namespace muster
