#include "spawn/start/tcp_ports.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>

#include <dirent.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/kernel_file.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::size_t kMaxCommandBytes = 120;
constexpr int kMaxAncestors = 100;  // bounds the walk up while the process tree changes

std::string ProcFile(const std::string& proc, pid_t pid, const char* file) {
  return fmt::format("{}/{}/{}", proc, pid, file);
}

template <class Visit>
void ForEachEntry(const std::string& folder, Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) visit(entry->d_name);
}

// Returns the word at `at` and moves `at` past it.
std::string_view NextWord(std::string_view line, std::size_t& at) {
  at = std::min(line.find_first_not_of(' ', at), line.size());
  const std::size_t end = std::min(line.find(' ', at), line.size());
  const std::string_view word = line.substr(at, end - at);
  at = end;
  return word;
}

// "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 424242 1 …": slot, local
// and remote address, state, queues, timer, retransmissions, user, timeouts, inode.
std::optional<TcpSocket> ParseLine(std::string_view line) {
  std::array<std::string_view, 10> words;
  std::size_t at = 0;
  for (std::string_view& word : words) word = NextWord(line, at);
  const std::size_t colon = words[1].rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = ParseNumber<std::uint16_t>(words[1].substr(colon + 1), 16);
  const auto state = ParseNumber<std::uint8_t>(words[3], 16);
  const auto user = ParseNumber<uid_t>(words[7]);
  const auto inode = ParseNumber<std::uint64_t>(words[9]);
  if (!port || !state || !user || !inode) return std::nullopt;
  constexpr std::uint8_t kTimeWait = 0x06;  // include/net/tcp_states.h
  constexpr std::uint8_t kListen = 0x0a;
  TcpSocket socket{*port, TcpSocket::State::kOther, *user, *inode};
  if (*state == kTimeWait) socket.state = TcpSocket::State::kPast;
  if (*state == kListen) socket.state = TcpSocket::State::kListening;
  return socket;
}

// Inodes of the sockets among the process's descriptors; none without permission to read them.
std::vector<std::uint64_t> SocketsOf(const std::string& proc, pid_t pid) {
  constexpr std::string_view kOpen = "socket:[";
  std::vector<std::uint64_t> inodes;
  const std::string folder = ProcFile(proc, pid, "fd");
  ForEachEntry(folder, [&](const char* name) {
    std::array<char, 64> target = {};
    const ssize_t size = ::readlink(fmt::format("{}/{}", folder, name).c_str(), target.data(), target.size());
    const std::string_view text(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (!text.starts_with(kOpen) || !text.ends_with(']')) return;
    const auto inode = ParseNumber<std::uint64_t>(text.substr(kOpen.size(), text.size() - kOpen.size() - 1));
    if (inode) inodes.push_back(*inode);
  });
  return inodes;
}

std::vector<pid_t> AllPids(const std::string& proc) {
  std::vector<pid_t> pids;
  ForEachEntry(proc, [&](const char* name) {
    if (const auto pid = ParseNumber<pid_t>(name)) pids.push_back(*pid);
  });
  return pids;
}

// 0 if the process has exited.
pid_t ParentOf(const std::string& proc, pid_t pid) {
  const std::string stat = KernelText(ProcFile(proc, pid, "stat"));
  std::size_t at = stat.rfind(") ");  // the name may contain any character
  if (at == std::string::npos) return 0;
  at += 1;
  NextWord(stat, at);  // the state
  return ParseNumber<pid_t>(NextWord(stat, at)).value_or(0);
}

bool IsBelow(const std::string& proc, pid_t pid, pid_t root) {
  for (int steps = 0; pid > 0 && steps < kMaxAncestors; ++steps) {
    if (pid == root) return true;
    pid = ParentOf(proc, pid);
  }
  return false;
}

std::string CommandOf(const std::string& proc, pid_t pid) {
  std::string command = KernelText(ProcFile(proc, pid, "cmdline"));
  while (command.ends_with('\0')) command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  if (command.empty()) command = KernelText(ProcFile(proc, pid, "comm"));
  while (command.ends_with('\n')) command.pop_back();
  if (command.size() > kMaxCommandBytes) command = command.substr(0, kMaxCommandBytes) + " …";
  return command;
}

}  // namespace

std::vector<TcpSocket> ParseTcpTable(std::string_view table) {
  std::vector<TcpSocket> sockets;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    if (const auto socket = ParseLine(table.substr(at, end - at))) sockets.push_back(*socket);
    at = end + 1;
  }
  return sockets;
}

std::vector<TcpSocket> TcpSockets() {
  std::vector<TcpSocket> sockets = ParseTcpTable(KernelText("/proc/net/tcp"));
  const std::vector<TcpSocket> six = ParseTcpTable(KernelText("/proc/net/tcp6"));
  sockets.insert(sockets.end(), six.begin(), six.end());
  return sockets;
}

std::map<std::uint16_t, PortHolder> FindPortHolders(const std::set<std::uint16_t>& ports, pid_t ours,
                                                    const std::string& proc) {
  using Kind = PortHolder::Kind;
  std::map<std::uint16_t, PortHolder> holders;
  std::map<std::uint64_t, TcpSocket> sought;
  for (const TcpSocket& socket : TcpSockets()) {
    if (socket.inode == 0 || !ports.contains(socket.port)) continue;
    sought.emplace(socket.inode, socket);
    PortHolder& holder = holders[socket.port];
    const bool listening = socket.state == TcpSocket::State::kListening;
    if (holder.kind == Kind::kNone || (listening && !holder.listening)) {
      holder = {Kind::kForeign, listening, 0, socket.user, {}};
    }
  }
  for (const std::uint16_t port : ports) holders.try_emplace(port);
  if (sought.empty()) return holders;
  for (const pid_t pid : AllPids(proc)) {
    for (const std::uint64_t inode : SocketsOf(proc, pid)) {
      const auto found = sought.find(inode);
      if (found == sought.end()) continue;
      const TcpSocket& socket = found->second;
      PortHolder& holder = holders[socket.port];
      const bool listening = socket.state == TcpSocket::State::kListening;
      if (ours != 0 && IsBelow(proc, pid, ours)) {
        holder = {
            Kind::kOurs, holder.kind == Kind::kOurs ? holder.listening || listening : listening, pid, socket.user, {}};
      } else if (holder.kind == Kind::kForeign && holder.pid == 0 && listening == holder.listening) {
        holder.pid = pid;
        holder.user = socket.user;
        holder.command = CommandOf(proc, pid);
      }
    }
  }
  return holders;
}

std::map<std::uint16_t, std::set<std::uint64_t>> Listeners() {
  std::map<std::uint16_t, std::set<std::uint64_t>> listeners;
  for (const TcpSocket& socket : TcpSockets()) {
    if (socket.state == TcpSocket::State::kListening) listeners[socket.port].insert(socket.inode);
  }
  return listeners;
}

bool HasSocket(pid_t pid, const std::set<std::uint64_t>& inodes, const std::string& proc) {
  const std::vector<std::uint64_t> own = SocketsOf(proc, pid);
  return std::any_of(own.begin(), own.end(), [&](std::uint64_t inode) { return inodes.contains(inode); });
}

std::string PortHolderText(const PortHolder& holder) {
  if (holder.kind == PortHolder::Kind::kNone) return {};
  if (holder.pid == 0) return fmt::format("a process of user {}", holder.user);
  if (holder.command.empty()) return fmt::format("process {}", holder.pid);
  return fmt::format("process {} ({})", holder.pid, Printable(holder.command));
}

namespace {

constexpr std::uint32_t kFirstUnprivileged = 1024;

void SetOption(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

int BindAny(int socket, int family, std::uint16_t number) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(number);
  six.sin6_addr = in6addr_any;
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(number);
  four.sin_addr.s_addr = htonl(INADDR_ANY);
  const bool is_six = family == AF_INET6;
  const auto* address = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  return ::bind(socket, address, is_six ? sizeof six : sizeof four) == 0 ? 0 : errno;
}

// Both families with one socket if there is IPv6, so that the port is free on ::1 as well.
int Bind(std::uint16_t number, bool reuse, UniqueFd& held) {
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) {
      if (errno == EAFNOSUPPORT && family == AF_INET6) continue;
      return errno;
    }
    if (family == AF_INET6) SetOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (reuse) SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    const int error = BindAny(socket.get(), family, number);
    if (error == EADDRNOTAVAIL && family == AF_INET6) continue;
    if (error != 0) return error;
    // Set only after this bind: without the options it fails if any process has the port, also one of another muster.
    SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    SetOption(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    held = std::move(socket);
    return 0;
  }
  return EAFNOSUPPORT;
}

// Whether /proc shows only closed connections (TIME_WAIT) for the port: they do not prevent a server that sets
// SO_REUSEADDR from binding it.
bool OnlyPastConnections(std::uint16_t number) {
  bool past = false;
  for (const TcpSocket& socket : TcpSockets()) {
    if (socket.port != number) continue;
    if (socket.state != TcpSocket::State::kPast) return false;
    past = true;
  }
  return past;
}

int BindAfterOthers(std::uint16_t number, UniqueFd& held) {
  const int error = Bind(number, false, held);
  return error == EADDRINUSE && OnlyPastConnections(number) ? Bind(number, true, held) : error;
}

}  // namespace

std::uint16_t FirstEphemeralPort() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t first = 0;
  if (!(range >> first) || first > 65535) return 32768;
  return static_cast<std::uint16_t>(first);
}

std::optional<HeldPort> TryHoldPort(std::uint16_t number) {
  HeldPort held{UniqueFd(), number};
  const int error = BindAfterOthers(number, held.socket);
  return error == 0 ? std::optional(std::move(held)) : std::nullopt;
}

tl::expected<HeldPort, std::string> HoldPort(std::uint16_t number) {
  HeldPort held{UniqueFd(), number};
  const int error = BindAfterOthers(number, held.socket);
  if (error == 0) return held;
  if (error == EADDRINUSE) {
    const std::string holder = PortHolderText(FindPortHolders({number}, 0)[number]);
    return tl::unexpected<std::string>(
        fmt::format("port {} is in use{}", number, holder.empty() ? "" : fmt::format(" by {}", holder)));
  }
  return tl::unexpected<std::string>(fmt::format("port {} cannot be bound: {}", number, std::strerror(error)));
}

tl::expected<HeldPort, std::string> HoldAnyPort(const std::set<std::uint16_t>& taken) {
  std::vector<std::uint16_t> candidates;
  // If nearly all ports have been declared ephemeral, use that range.
  const std::uint32_t ephemeral = FirstEphemeralPort();
  const std::uint32_t end = ephemeral < 2 * kFirstUnprivileged ? 65536 : ephemeral;
  for (std::uint32_t number = kFirstUnprivileged; number < end; ++number) {
    const auto port = static_cast<std::uint16_t>(number);
    if ((port < kAvoidedFirst || port > kAvoidedLast) && !taken.contains(port)) candidates.push_back(port);
  }
  std::random_device random;
  std::shuffle(candidates.begin(), candidates.end(), std::mt19937(random()));
  int error = EADDRINUSE;
  for (const std::uint16_t number : candidates) {
    HeldPort held{UniqueFd(), number};
    error = Bind(number, false, held.socket);
    if (error == 0) return held;
    if (error != EADDRINUSE && error != EACCES) break;
  }
  return tl::unexpected<std::string>(fmt::format("no free port from {} to {} outside {} to {}: {}", kFirstUnprivileged,
                                                 end - 1, kAvoidedFirst, kAvoidedLast, std::strerror(error)));
}

}  // namespace muster
