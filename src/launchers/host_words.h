// Parses host arguments of other launchers, with the number of processes per host. Pure: text in, numbers and the
// arguments for `muster run` out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/site.h"

namespace muster {

struct NamedHosts {
  int count = 0;
  int slots = 0;            // of all hosts
  std::optional<int> each;  // if all hosts have the same number
  std::string options;      // for `muster run`: "--host a:4,b:4"; empty for this host alone
  std::vector<SiteHost> list;
  // The numbers of the devices, "n1 2-7, n2 0-7", where `options` cannot say them: --devices is the same for all hosts.
  std::string own_devices;
};

// "a:4,b:4"; a host without a number gets one slot for each occurrence. Errors are those of ParseHostList.
Result<NamedHosts> HostsOfList(std::string_view text);
// The content of a host file, as ParseHostFile reads it; a host without a number has one slot.
Result<NamedHosts> HostsOfFile(std::string_view text, const std::string& file);
// DeepSpeed's "NAME:SLOT,SLOT@NAME": numbers of devices; a host without them uses all of its own.
Result<NamedHosts> HostsOfSlots(std::string_view text);

// The hosts and devices of a host file that DeepSpeed's options leave, by the rules of its runner: `include` or
// `exclude`, then the first `nodes`, then devices 0 to `gpus` - 1 of each. Empty and 0: not given. Kind "usage": what
// the runner refuses, with its reason.
Result<NamedHosts> FilteredHosts(const NamedHosts& file, std::string_view include, std::string_view exclude, int nodes,
                                 int gpus);

// The hosts with the numbers of processes that Hydra starts on each: hosts are filled in order, `per_host` or their
// slots at a time, again from the first one while processes are left.
NamedHosts HostsFilledByHydra(const NamedHosts& hosts, int processes, std::optional<int> per_host);

}  // namespace muster
