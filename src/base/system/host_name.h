// What hosts are called: names as text, and what this machine calls itself. Looks nothing up.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// gethostname(2); "localhost" if the machine does not say, or says what no host may be called (IsHostName).
std::string OwnHostName();

// Whether the name is this machine's: its own, in full or up to the first dot, "localhost" or a loopback address.
bool IsThisMachine(std::string_view name);

// Whether the text is a literal of IPv4 or IPv6.
bool IsAddress(const std::string& text);

// Whether the text can stand for a host wherever it is put, in a shell, too: an address, or letters, digits, '.', '_'
// and
// '-', not beginning with '-'; at most 255 bytes.
bool IsHostOrAddress(std::string_view text);

// The name as such a text: '-' in the place of what else is in it, "localhost" if nothing is left.
std::string AsHostName(std::string_view name);

// Whether a host may be called so: an address, or letters, digits, '.', '_' and '-', not beginning with '-', with a
// user's name of the same before an '@' if there is one.
bool IsHostName(std::string_view name);

}  // namespace muster
