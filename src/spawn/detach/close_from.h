// Closes inherited descriptors of a new process.
#pragma once

namespace muster {

// Closes every descriptor of this process from `first` on.
void CloseFrom(int first);

}  // namespace muster
