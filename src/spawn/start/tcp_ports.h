// TCP ports of this network namespace: reserving them for processes that start later, and finding the process that
// has one open. Handles sockets and the kernel's tables in /proc (proc(5)); does not know the processes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

// Finds the process that has a TCP port of this network namespace open, from the kernel's socket tables (proc(5),
// /proc/net/tcp) and the descriptors of processes.
//
// Uses /proc only. Only root can see the descriptors of other users' processes, so of such a holder only the user may
// be known.

struct TcpSocket {
  enum class State : std::uint8_t { kListening, kPast, kOther };  // kPast: TIME_WAIT, which hinders no server

  std::uint16_t port = 0;  // the local one
  State state = State::kOther;
  uid_t user = 0;
  std::uint64_t inode = 0;  // 0: no process has it open

  bool operator==(const TcpSocket&) const = default;
};

// Parses one socket table. Never fails: skips lines that it cannot read. A socket that is bound but neither listening
// nor connected is in no table.
std::vector<TcpSocket> ParseTcpTable(std::string_view table);

// The current sockets of both families.
std::vector<TcpSocket> TcpSockets();

struct PortHolder {
  enum class Kind : std::uint8_t {
    kNone,    // no open socket in the tables
    kOurs,    // the given process or a descendant
    kForeign  // a foreign process, or one that cannot be seen
  };

  Kind kind = Kind::kNone;
  bool listening = false;
  pid_t pid = 0;        // of a foreign process; 0: not visible
  uid_t user = 0;       // owner of the socket
  std::string command;  // of `pid`: its words joined by blanks, truncated; untrusted bytes
};

// Finds the holder of each port. If several processes have a port open, own processes are preferred to foreign ones,
// and listening sockets to connected ones. `ours`: the process that, with its descendants, counts as own; 0: none.
// Looks at all processes in `proc`, the /proc of a PID namespace, whose pids are returned.
std::map<std::uint16_t, PortHolder> FindPortHolders(const std::set<std::uint16_t>& ports, pid_t ours,
                                                    const std::string& proc = "/proc");

// Inodes of listening sockets, by port.
std::map<std::uint16_t, std::set<std::uint64_t>> Listeners();

// Whether the process itself, without its descendants, has one of these sockets open.
bool HasSocket(pid_t pid, const std::set<std::uint64_t>& inodes, const std::string& proc = "/proc");

// "process 4711 (nc -l 6667)", "a process of user 1000", safe for a terminal; empty if the holder is unknown.
std::string PortHolderText(const PortHolder& holder);

// Reserves TCP ports for processes that start later. Handles sockets and the machine's port ranges; does not know the
// processes.

// Ports that are never chosen, because MindSpore's defaults are in this range (8118 the scheduler, up to 16309 the
// servers).
inline constexpr std::uint16_t kAvoidedFirst = 8118;
inline constexpr std::uint16_t kAvoidedLast = 16309;

// The first port that the kernel uses for outgoing connections (ip_local_port_range(7)). No port from there on is
// chosen, since any connection could take it before its process listens (unless hardly any others would be left). 32768
// if it cannot be read.
std::uint16_t FirstEphemeralPort();

// A socket bound to the port on every IPv4 and IPv6 address, not listening. No other process can bind the port in the
// meantime unless it sets SO_REUSEADDR or SO_REUSEPORT, as this socket does.
struct HeldPort {
  UniqueFd socket;  // closing it releases the port
  std::uint16_t number = 0;
};

// Holds the given port, unless it is in use.
std::optional<HeldPort> TryHoldPort(std::uint16_t number);

// The same. The error is a phrase that names the port and, as far as it can be determined, its user: "port 6667 is in
// use by process 4711 (nc -l 6667)".
tl::expected<HeldPort, std::string> HoldPort(std::uint16_t number);

// Holds a free port of 1024 and up, chosen at random, that is not in `taken`.
tl::expected<HeldPort, std::string> HoldAnyPort(const std::set<std::uint16_t>& taken);

}  // namespace muster
