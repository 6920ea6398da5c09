// Hosts as people write them: "n[01-16]:8,login:4" on a command line, and host files of other launchers. Text to
// names and device counts; looks nothing up and opens nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/site.h"

namespace muster {

inline constexpr std::size_t kMaxNamedHosts = 65'536;

// "n[01-04,7]:8,user@login:4,192.0.2.1,[2001:db8::1]:2": names, separated by commas, each with the number of its
// devices behind a ':' if it is to have one of its own. Numbers in brackets are lists and ranges, written with as many
// digits as the first number of the range has; several brackets in a name give all combinations, the last one
// fastest. An address is also the host's address. A name is letters, digits, '.', '_' and '-', does not begin with
// '-', and may have a user's name before an '@'. Kind "hosts": what cannot be read, a host named twice, more than
// kMaxNamedHosts; `what` says where the text is from.
Result<std::vector<SiteHost>> ParseHostList(std::string_view text, const std::string& what);

// One entry a line, '#' begins a comment: "NAME", "NAME:N" or a list as above, "NAME slots=N" (Open MPI and DeepSpeed;
// max_slots= is passed over) or "NAME N" (MPICH: "NAME:N"). Kind "hosts", with the line.
Result<std::vector<SiteHost>> ParseHostFile(std::string_view text, const std::string& file);

// Without those that `excluded` names; every one of them must be there. Kind "hosts".
Result<std::vector<SiteHost>> WithoutHosts(std::vector<SiteHost> hosts, std::span<const SiteHost> excluded);

// "n[01-04]:8,login:4": what ParseHostList would read, neighbours with the same letters folded.
std::string HostListText(std::span<const SiteHost> hosts);

}  // namespace muster
