// What this machine calls itself.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// gethostname(2); "localhost" if the machine does not say.
std::string OwnHostName();

// Whether the name is this machine's: its own, in full or up to the first dot, "localhost" or a loopback address.
bool IsThisMachine(std::string_view name);

}  // namespace muster
