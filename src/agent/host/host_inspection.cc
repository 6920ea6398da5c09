#include "agent/host/host_inspection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/devices/host_cores.h"
#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_devices.h"
#include "base/system/host_name.h"
#include "base/system/kernel_file.h"
#include "base/system/own_environment.h"
#include "base/values/number_text.h"
#include "base/values/text_parts.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/reap.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

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
  facts.kernel = KernelLine(root + "proc/sys/kernel/osrelease");
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
  add("cuda", NvidiaVersion(KernelLine(root + "proc/driver/nvidia/version")));
  add("cuda", KernelLine(root + "sys/module/nvidia/version"));
  add("hip", KernelLine(root + "sys/module/amdgpu/version"));
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

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFewPorts = 1'000;

std::string ErrorOf(long result) { return result < 0 ? std::strerror(errno) : ""; }

// ENOSYS means that the call is missing; other errors are about its arguments.
std::string MissingOf(long result) { return result < 0 && errno == ENOSYS ? std::strerror(errno) : ""; }

std::string TryPidfd() {
  const UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return fd ? "" : std::strerror(errno);
}

std::string TryMemfd() {
  const UniqueFd fd(::memfd_create("muster-trial", MFD_CLOEXEC));
  return fd ? "" : std::strerror(errno);
}

std::string TryLandlock() {
  constexpr unsigned kAskVersion = 1;  // landlock_create_ruleset(2)
  return ErrorOf(::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion));
}

std::string TryUserNamespaces(const std::string& root) {
  if (::geteuid() == 0) return {};
  if (KernelLine(root + "proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "kernel.unprivileged_userns_clone is 0";
  if (KernelLine(root + "proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "kernel.apparmor_restrict_unprivileged_userns is 1";
  }
  if (KernelLine(root + "proc/sys/user/max_user_namespaces") == "0") return "user.max_user_namespaces is 0";
  return {};
}

// Device files that processes open: those that DeviceKinds counts, and related control files.
bool IsDeviceNode(std::string_view name) {
  const auto numbered = [name](std::string_view prefix) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
    return name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  };
  return numbered("davinci") || numbered("nvidia") || name == "davinci_manager" || name == "nvidiactl" ||
         name == "nvidia-uvm" || name == "kfd";
}

void TryNodes(const std::string& root, std::vector<HostCheck>& trials) {
  std::vector<std::string> nodes;
  std::error_code error;
  for (fs::directory_iterator it(root + "dev", error), end; !error && it != end; it.increment(error)) {
    if (IsDeviceNode(it->path().filename().string())) nodes.push_back(it->path());
  }
  std::sort(nodes.begin(), nodes.end());
  for (const std::string& node : nodes) {
    trials.push_back({"node", "/" + node.substr(root.size()), ErrorOf(::access(node.c_str(), R_OK | W_OK))});
  }
}

std::string TryPorts(const std::string& root) {
  std::ifstream file(root + "proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  if (!(file >> first >> last) || last < first || last - first + 1 >= kFewPorts) return {};
  return fmt::format("{} ports, {} to {}", last - first + 1, first, last);
}

std::string TryClock() {
  timex clock = {};
  const int state = ::adjtimex(&clock);
  if (state < 0) return {};  // not permitted, as in some containers
  return state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0 ? "nothing keeps it in time" : "";
}

}  // namespace

std::vector<HostCheck> TryHost(const std::string& root) {
  std::vector<HostCheck> trials = {
      {"mechanism", "pidfd", TryPidfd()},
      {"mechanism", "close_range", MissingOf(::syscall(SYS_close_range, ~0U, ~0U, 0))},
      {"mechanism", "clone_cgroup", MissingOf(::syscall(SYS_clone3, nullptr, 0))},
      {"mechanism", "landlock", TryLandlock()},
      {"mechanism", "seccomp", ErrorOf(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0))},
      {"mechanism", "memfd", TryMemfd()},
      {"mechanism", "user_namespaces", TryUserNamespaces(root)},
  };
  int subreaper = 0;
  trials.push_back({"mechanism", "subreaper", ErrorOf(::prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0))});
  const auto cgroup = Cgroup::MakeBelowOwn(fmt::format("muster-trial-{}", ::getpid()));
  trials.push_back({"cgroup", "a group of its own", cgroup ? "" : "it cannot be made below the agent's own"});
  TryNodes(root, trials);
  trials.push_back({"ports", "ip_local_port_range", TryPorts(root)});
  trials.push_back({"time", "the clock", TryClock()});
  return trials;
}

HostCheck NameTrial(const std::string& name, const std::string& output, bool ended_well) {
  HostCheck trial{"name", name, {}};
  const std::string address = output.substr(0, output.find_first_of(" \t\n"));
  if (!ended_well || address.empty()) {
    trial.error = "it has no address";
  } else if (address.starts_with("127.") || address == "::1") {
    trial.error = "it is " + address + ", which other hosts cannot reach";
  }
  return trial;
}

namespace {

constexpr std::uint32_t kLooker = 0;

// Separates the output of our script from that of Python start-up files.
constexpr std::string_view kMark = "muster-python\t";
constexpr std::string_view kVersion = "version";
constexpr std::string_view kPackage = "package";
constexpr std::string_view kEndOfList = "whole";

// Reads the metadata of installed packages; imports none of them.
constexpr const char* kPackagesScript = R"python(
import sys
try:
    from importlib import metadata
except ImportError:
    metadata = None
print("\nmuster-python\tversion\t%d.%d.%d" % sys.version_info[:3])
for name in sys.argv[1:]:
    try:
        if metadata is not None:
            print("muster-python\tpackage\t%s\t%s" % (name, metadata.version(name)))
    except Exception:
        pass
print("muster-python\twhole")
)python";

// The shell looks up the program, which may be on a file system that does not respond.
constexpr const char* kShell = R"(cd -- "$0" 2>/dev/null; exec "$@")";

// A static program cannot resolve names, so getent does.
constexpr const char* kNameShell = R"(exec getent ahosts "$0")";

std::string ReadAll(int fd) {
  std::string bytes;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

// The last complete frame: everything known when it was written.
std::optional<Inspected> LastReport(const std::string& bytes) {
  FrameReader frames;
  frames.Feed(bytes);
  std::optional<Inspected> last;
  while (const auto payload = frames.Next()) {
    auto message = DecodeMessage(*payload);
    if (!message || !std::holds_alternative<Inspected>(*message)) break;
    last = std::get<Inspected>(std::move(*message));
  }
  return last;
}

}  // namespace

PythonFact ParsePythonOutput(const std::string& program, std::string_view bytes) {
  PythonFact fact;
  fact.program = program;
  fact.error = "it did not list its packages";
  for (std::string_view line : TextLines(bytes)) {
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    const std::string_view what = line.substr(0, line.find('\t'));
    const std::string_view rest = line.substr(std::min(what.size() + 1, line.size()));
    if (what == kVersion) fact.version = rest;
    if (what == kEndOfList) fact.error.clear();
    const std::size_t tab = rest.find('\t');
    if (what != kPackage || tab == std::string_view::npos) continue;
    fact.packages.insert_or_assign(std::string(rest.substr(0, tab)), std::string(rest.substr(tab + 1)));
  }
  return fact;
}

bool InspectHost(int in, int out, const std::string& version) {
  FrameReader frames;
  frames.Feed(ReadAll(in));
  const auto payload = frames.Next();
  const auto command = payload ? DecodeCommand(*payload) : std::nullopt;
  if (!command || !std::holds_alternative<Inspect>(*command)) return false;
  const auto& wanted = std::get<Inspect>(*command);

  Inspected reported;
  reported.facts = ReadHostFacts(wanted.variables, OwnVariables());
  reported.facts.muster = version;
  if (WriteAll(out, EncodeFrame(AgentMessage(reported))) != 0) return false;
  if (wanted.trials) reported.facts.trials = TryHost();
  reported.facts.drivers = ReadDrivers();
  for (const FolderQuery& place : wanted.places) reported.facts.disks.push_back(CheckDisk(place));
  for (const ProgramQuery& program : wanted.programs) {
    reported.facts.programs.push_back(FindProgramOnHost(program, wanted.search_dirs, wanted.cwd));
  }
  return WriteAll(out, EncodeFrame(AgentMessage(reported))) == 0;
}

HostInspection::HostInspection(boost::asio::io_context& io, Launcher& launcher, std::string agent, Observer observer)
    : io_(io),
      observer_(std::move(observer)),
      agent_(std::move(agent)),
      commands_(
          io, launcher,
          {.exited = [this](const ProcessExited& event) { OnExited(event); }, .signalled = [](const SignalSent&) {}}),
      deadline_(io.get_executor()) {}

void HostInspection::Begin(Inspect command, const ResourceLimit& descriptors) {
  going_ = true;
  asked_at_ = WallNowNs();
  command_ = std::move(command);
  outputs_.clear();
  failures_.clear();
  for (std::uint32_t number = 0; number <= command_.pythons.size() + (command_.trials ? 1 : 0); ++number) {
    if (const auto started = Start(number, descriptors); !started) {
      failures_.emplace(number, SpawnErrorText(started.error()));
    }
  }
  if (commands_.empty()) return ReportSoon();
  deadline_.expires_after(std::chrono::milliseconds(command_.within_ms));
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (error || !going_) return;
    const std::string late =
        fmt::format("it took longer than {}", DurationText(static_cast<double>(command_.within_ms) / 1000));
    for (const auto& [number, output] : outputs_) {
      if (commands_.Runs(number, 0)) failures_.emplace(number, late);
    }
    Report();
    commands_.KillAll();
  });
}

tl::expected<void, SpawnError> HostInspection::Start(std::uint32_t number, const ResourceLimit& descriptors) {
  auto output = CreateMemoryFile("muster-inspection", kMaxOutputBytes);
  if (!output) return tl::unexpected<SpawnError>(std::move(output.error()));
  SpawnSpec spec;
  UniqueFd question;
  if (number == kLooker) {
    auto held = HoldText(EncodeFrame(AgentCommand(command_)));
    if (!held) return tl::unexpected<SpawnError>(std::move(held.error()));
    question = std::move(*held);
    spec.argv = {agent_, "--inspect"};
    spec.env = OwnEnvironment();
  } else if (number == NameNumber()) {
    spec.argv = {"/bin/sh", "-c", kNameShell, OwnHostName()};
    spec.env = EnvPointers(command_.environment);
  } else {
    spec.argv = {"/bin/sh", "-c", kShell, command_.cwd, command_.pythons[number - 1], "-c", kPackagesScript};
    spec.argv.insert(spec.argv.end(), command_.packages.begin(), command_.packages.end());
    spec.env = EnvPointers(command_.environment);
  }
  spec.stdin_fd = question.get();
  spec.stdout_fd = output->get();
  spec.cwd = "/";
  spec.limits.push_back(descriptors);
  auto started = commands_.Start(number, 0, std::move(spec));
  if (!started) return tl::unexpected<SpawnError>(std::move(started.error()));
  outputs_.insert_or_assign(number, std::move(*output));
  return {};
}

void HostInspection::OnExited(const ProcessExited& event) {
  if (going_) {
    EndedProcess end;
    end.signalled = event.signalled;
    end.code = event.code;
    if (event.signalled || event.code != 0) failures_.emplace(event.process, "it " + EndText(end));
    if (commands_.empty()) Report();
  }
  if (commands_.empty()) observer_.idle();
}

// Not before Begin() has returned, as with every other answer.
void HostInspection::ReportSoon() {
  boost::asio::post(io_, [this] {
    if (going_) Report();
  });
}

void HostInspection::Report() {
  going_ = false;
  deadline_.cancel();
  Inspected reported;
  if (const auto output = outputs_.find(kLooker); output != outputs_.end()) {
    auto looked = LastReport(ReadMemoryFile(output->second.get(), kMaxOutputBytes));
    if (looked) reported = std::move(*looked);
  }
  if (const auto failed = failures_.find(kLooker); failed != failures_.end()) {
    reported.error = "its file systems and programs are not known: " + failed->second;
  }
  for (std::uint32_t number = 1; number <= command_.pythons.size(); ++number) {
    const auto output = outputs_.find(number);
    PythonFact fact = ParsePythonOutput(
        command_.pythons[number - 1],
        output == outputs_.end() ? std::string() : ReadMemoryFile(output->second.get(), kMaxOutputBytes));
    if (const auto failed = failures_.find(number); failed != failures_.end()) fact.error = failed->second;
    reported.facts.pythons.push_back(std::move(fact));
  }
  if (const auto output = outputs_.find(NameNumber()); output != outputs_.end()) {
    reported.facts.trials.push_back(NameTrial(OwnHostName(), ReadMemoryFile(output->second.get(), kMaxOutputBytes),
                                              !failures_.contains(NameNumber())));
  }
  outputs_.clear();
  reported.asked_at = asked_at_;
  reported.answered_at = WallNowNs();
  observer_.done(reported);
}

void HostInspection::Kill() {
  going_ = false;
  deadline_.cancel();
  commands_.KillAll();
}

void HostInspection::Abandon() {
  going_ = false;
  deadline_.cancel();
  commands_.Abandon();
}

}  // namespace muster
