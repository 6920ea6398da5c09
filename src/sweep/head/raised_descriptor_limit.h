// Raises the limit of open files, for a process with descriptors for many trials.
#pragma once

#include <sys/resource.h>

namespace muster {

// Raises this process's limit to its maximum for the lifetime of this object; processes that it starts get the original
// limit (transport/local_transport.h).
class RaisedDescriptorLimit {
 public:
  RaisedDescriptorLimit() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit raised = {before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  ~RaisedDescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  RaisedDescriptorLimit(const RaisedDescriptorLimit&) = delete;
  RaisedDescriptorLimit& operator=(const RaisedDescriptorLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace muster
