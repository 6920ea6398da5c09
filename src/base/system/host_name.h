// Names of hosts: which texts are valid, and the name of this machine. Performs no lookup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// gethostname(2); "localhost" if that is empty or not a valid host name (IsHostName).
std::string OwnHostName();

// Whether the name is this machine's own (in full or up to the first dot), "localhost" or a loopback address.
bool IsThisMachine(std::string_view name);

// Whether the text is an IPv4 or IPv6 literal.
bool IsAddress(const std::string& text);

// Whether the text can be used as a host everywhere, also in a shell: an address,
// or letters, digits, '.', '_' and '-', not beginning with '-'; at most 255
// bytes.
bool IsHostOrAddress(std::string_view text);

// Makes such a text of the name: other characters become '-'; "localhost" if nothing remains.
std::string AsHostName(std::string_view name);

// Whether the text is a valid host name: an address, or letters, digits, '.', '_' and '-', not beginning with '-',
// optionally with a user name of the same characters before an '@'.
bool IsHostName(std::string_view name);

}  // namespace muster
