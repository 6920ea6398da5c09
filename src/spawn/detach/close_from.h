// Closing what a new process has inherited. Knows descriptor numbers only.
#pragma once

namespace muster {

// Closes every descriptor of this process from that number on.
void CloseFrom(int first);

}  // namespace muster
