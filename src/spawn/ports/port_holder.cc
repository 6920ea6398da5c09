#include "spawn/ports/port_holder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::size_t kMostCommandBytes = 120;
constexpr int kMostAncestors = 100;  // bounds the walk up while the process tree changes

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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
  const std::string stat = Content(ProcFile(proc, pid, "stat"));
  std::size_t at = stat.rfind(") ");  // the name may contain any character
  if (at == std::string::npos) return 0;
  at += 1;
  NextWord(stat, at);  // the state
  return ParseNumber<pid_t>(NextWord(stat, at)).value_or(0);
}

bool IsBelow(const std::string& proc, pid_t pid, pid_t root) {
  for (int steps = 0; pid > 0 && steps < kMostAncestors; ++steps) {
    if (pid == root) return true;
    pid = ParentOf(proc, pid);
  }
  return false;
}

std::string CommandOf(const std::string& proc, pid_t pid) {
  std::string command = Content(ProcFile(proc, pid, "cmdline"));
  while (command.ends_with('\0')) command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  if (command.empty()) command = Content(ProcFile(proc, pid, "comm"));
  while (command.ends_with('\n')) command.pop_back();
  if (command.size() > kMostCommandBytes) command = command.substr(0, kMostCommandBytes) + " …";
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
  std::vector<TcpSocket> sockets = ParseTcpTable(Content("/proc/net/tcp"));
  const std::vector<TcpSocket> six = ParseTcpTable(Content("/proc/net/tcp6"));
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

}  // namespace muster
