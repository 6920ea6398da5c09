// Lets a test that runs as root act temporarily as another user, with that user's file permissions.
#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace muster::testing {

inline bool CanBecomeOthers() { return ::getuid() == 0; }

class AsUser {
 public:
  explicit AsUser(uid_t user, gid_t group) : group_(::getegid()) {
    became_ = ::setegid(group) == 0 && ::seteuid(user) == 0;
  }
  ~AsUser() { became_ = ::seteuid(0) == 0 && ::setegid(group_) == 0; }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

  bool became() const { return became_; }

 private:
  gid_t group_;
  bool became_ = false;
};

}  // namespace muster::testing
