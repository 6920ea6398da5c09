// Moves the calling thread into the network namespace of another process for the lifetime of an object: sockets opened
// meanwhile belong to that namespace.
#pragma once

#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster::testing {

class OnNetwork {
 public:
  // Throws on failure.
  explicit OnNetwork(pid_t process) : own_(Open("/proc/thread-self/ns/net")) {
    Enter(Open("/proc/" + std::to_string(process) + "/ns/net"));
  }
  ~OnNetwork() { ::setns(own_.get(), CLONE_NEWNET); }
  OnNetwork(const OnNetwork&) = delete;
  OnNetwork& operator=(const OnNetwork&) = delete;

 private:
  static UniqueFd Open(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }
  static void Enter(const UniqueFd& network) {
    if (::setns(network.get(), CLONE_NEWNET) != 0) throw std::runtime_error("the network cannot be entered");
  }

  const UniqueFd own_;
};

}  // namespace muster::testing
