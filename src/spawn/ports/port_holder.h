// Who has a TCP port of this network namespace: the kernel's tables of sockets (proc(5), /proc/net/tcp), and the
// processes that have those sockets open.
//
// Knows /proc; does not know what a port is for. Descriptors of other users' processes can only be seen by root, so
// that a holder may be known by its user alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace muster {

struct TcpSocket {
  enum class State : std::uint8_t { kListening, kPast, kOther };  // kPast: TIME_WAIT, which hinders no server

  std::uint16_t port = 0;  // the local one
  State state = State::kOther;
  uid_t user = 0;
  std::uint64_t inode = 0;  // 0: no process has it open any more

  bool operator==(const TcpSocket&) const = default;
};

// The sockets of one table. Never fails: lines that cannot be read are passed over. A socket that is bound and neither
// listens nor is connected stands in no table.
std::vector<TcpSocket> ParseTcpTable(std::string_view table);

// Those of both families, now.
std::vector<TcpSocket> TcpSockets();

struct PortHolder {
  enum class Kind : std::uint8_t {
    kNobody,   // no table knows of a socket that somebody has open
    kOurs,     // a process at or below the given one
    kStranger  // somebody else, or somebody who cannot be seen
  };

  Kind kind = Kind::kNobody;
  bool listening = false;
  pid_t pid = 0;        // of a stranger; 0: not to be seen
  uid_t user = 0;       // whose socket it is
  std::string command;  // of `pid`: its words joined by blanks, cut; untrusted bytes
};

// Who has each of these ports. Where several have one, ours counts before strangers and who listens before who is only
// connected. `ours`: a process whose descendants, and which itself, are no strangers; 0: there is no such process.
// Looks at every process that `proc` shows, the /proc of a PID namespace: pids are that namespace's.
std::map<std::uint16_t, PortHolder> FindPortHolders(const std::set<std::uint16_t>& ports, pid_t ours,
                                                    const std::string& proc = "/proc");

// Inodes of the sockets that listen, by port.
std::map<std::uint16_t, std::set<std::uint64_t>> Listeners();

// Whether the process itself has one of these sockets open. Looks at no other process.
bool HasSocket(pid_t pid, const std::set<std::uint64_t>& inodes, const std::string& proc = "/proc");

// "process 4711 (nc -l 6667)", "a process of user 1000", safe for a terminal; empty if nobody is known.
std::string PortHolderText(const PortHolder& holder);

}  // namespace muster
