// Life as the init of a PID namespace (pid_namespaces(7)): when that process ends, however it ends, the kernel kills
// everything in the namespace, whatever it has done to its session, its parents or its environment.
//
// Knows namespaces, pids and the guard that stays outside; does not know what runs inside. Pids that are told to others
// must be those of the namespace outside, which is the head's.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

struct NamespaceError {
  std::string stage;  // "unshare", "map", "fork", "mount", "proc", "pids"
  int error = 0;      // errno
};

// "a PID namespace cannot be made: unshare: Operation not permitted; user.max_user_namespaces is 0"
std::string NamespaceErrorText(const NamespaceError& error);

class PidNamespace {
 public:
  // Returns in a new process: the init of a new namespace, with a /proc of its own. The calling process stays outside
  // as its guard and does not return: it passes SIGTERM on (spawn/guard/child_guard.h), ends the init if it is killed
  // itself, and ends as the init does. Made with privilege if there is any, else in a new user namespace that knows
  // this user and group alone. Must be called in a process of one thread that has SIGCHLD and SIGTERM blocked. On an
  // error, which comes in the caller or in a child of it that has taken its place, nothing must be started.
  static tl::expected<PidNamespace, NamespaceError> Enter();

  // The calling process as the namespace outside knows it.
  pid_t OwnPid() const;
  // A child of the calling process; 0 if it is not there any more, not even as a zombie.
  pid_t PidOf(pid_t inside) const;
  // Of everything that runs in the namespace: the pid in it, and that outside.
  std::map<pid_t, pid_t> Pids() const;
  // The /proc of the namespace outside, as a path.
  const std::string& proc() const { return proc_; }

 private:
  explicit PidNamespace(UniqueFd outside);

  UniqueFd outside_;
  std::string proc_;
};

// The last number of the line "NSpid:" of a /proc/PID/status: the pid in the innermost namespace. Nothing if there is
// no such line.
std::optional<pid_t> InnermostPid(std::string_view status);

}  // namespace muster
