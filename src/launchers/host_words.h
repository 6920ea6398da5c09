// Parses host arguments of other launchers, with the number of processes per host. Pure: text in, numbers and the
// arguments for `muster run` out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/result.h"

namespace muster {

struct NamedHosts {
  int count = 0;
  int slots = 0;            // of all hosts
  std::optional<int> each;  // if all hosts have the same number
  std::string options;      // for `muster run`: "--host a:4,b:4"; empty for this host alone
};

// "a:4,b:4"; a host without a number gets one slot for each occurrence. Errors are those of ParseHostList.
Result<NamedHosts> HostsOfList(std::string_view text);
// The content of a host file, as ParseHostFile reads it; a host without a number has one slot.
Result<NamedHosts> HostsOfFile(std::string_view text, const std::string& file);
// DeepSpeed's "NAME:SLOT,SLOT@NAME": numbers of devices; a host without them uses all of its own.
Result<NamedHosts> HostsOfSlots(std::string_view text);

}  // namespace muster
