// The limit of open files of a process that has some for each of many trials.
#pragma once

#include <sys/resource.h>

namespace muster {

// As many as this process may have, for as long as it lives; what it starts gets what it had
// (transport/local_transport.h).
class ManyDescriptors {
 public:
  ManyDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit raised = {before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  ~ManyDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  ManyDescriptors(const ManyDescriptors&) = delete;
  ManyDescriptors& operator=(const ManyDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace muster
