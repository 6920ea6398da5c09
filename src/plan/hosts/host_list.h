// Parses host lists such as "n[01-16]:8,login:4" from a command line, and host files of other launchers. Text to names
// and device counts; looks up no name and opens no file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/site.h"

namespace muster {

inline constexpr std::size_t kMaxNamedHosts = 65'536;

// "n[01-04,7]:8,user@login:4,192.0.2.1,[2001:db8::1]:2": names, separated by commas, each optionally followed by ':'
// and its number of devices. Numbers in brackets are lists and ranges, written with as many digits as the first number
// of the range has; several brackets in a name give all combinations, the last one varying fastest. An IP address is
// also the host's address. A name consists of letters, digits, '.', '_' and '-', does not begin with '-', and may have
// a user name before an '@'. Kind "hosts": invalid text, a host named twice (names are
// compared without case), more than kMaxNamedHosts; `what` names the
// source of the text.
Result<std::vector<SiteHost>> ParseHostList(std::string_view text, const std::string& what);

// One entry per line, '#' begins a comment: "NAME", "NAME:N" or a list as above, "NAME slots=N" (Open MPI and
// DeepSpeed; blanks may surround '='; max_slots=N
// counts if slots= is missing) or "NAME N" (MPICH: "NAME:N"). Kind "hosts", with the line.
Result<std::vector<SiteHost>> ParseHostFile(std::string_view text, const std::string& file);

// The hosts without those in `excluded`, which must all be in the list. Kind "hosts".
Result<std::vector<SiteHost>> WithoutHosts(std::vector<SiteHost> hosts, std::span<const SiteHost> excluded);

// The text for ParseHostList, with neighbours of the same prefix folded: "n[01-04]:8,login:4".
std::string HostListText(std::span<const SiteHost> hosts);

}  // namespace muster
