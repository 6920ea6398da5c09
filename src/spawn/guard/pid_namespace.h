// Runs the calling process as the init of a PID namespace (pid_namespaces(7)): when it exits, for whatever reason, the
// kernel kills every process in the namespace, even those that left its session or cleared their environment.
//
// Handles namespaces, pids and the guard outside; independent of what runs inside. Pids that are reported to other
// processes must be those of the outer namespace, which is the head's.
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
  // as its guard and does not return: it forwards SIGTERM (spawn/guard/child_guard.h), kills the init if it is killed
  // itself, and exits as the init does. The namespace is created with privilege if available, else in a new user
  // namespace that maps this user and group alone. Must be called in a single-threaded process that has SIGCHLD and
  // SIGTERM blocked. An error is returned in the caller or in a child that has replaced it; start nothing then.
  static tl::expected<PidNamespace, NamespaceError> Enter();

  // The pid of the calling process in the outer namespace.
  pid_t OwnPid() const;
  // The outer pid of a child of the calling process; 0 if it no longer exists, not even as a zombie.
  pid_t PidOf(pid_t inside) const;
  // All processes of the namespace: inner pid to outer pid.
  std::map<pid_t, pid_t> Pids() const;
  // The path of the outer namespace's /proc.
  const std::string& proc() const { return proc_; }

 private:
  explicit PidNamespace(UniqueFd outside);

  UniqueFd outside_;
  std::string proc_;
};

// The last number of the line "NSpid:" of a /proc/PID/status: the pid in the innermost namespace. Nothing without such
// a line.
std::optional<pid_t> InnermostPid(std::string_view status);

}  // namespace muster
