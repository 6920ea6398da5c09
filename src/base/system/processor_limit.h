// Leaves this process time to stop before the hard limit of its processor time, at which the kernel kills it without a
// word: `ulimit -t` sets both limits to the same number, and SIGXCPU comes at the soft one.
#pragma once

#include <sys/resource.h>

namespace muster {

// Lowers the soft limit by a tenth, one second at least and five at most, if it is the hard one and that is 2 seconds
// or more. Call it once, before threads are started.
void LowerProcessorLimit();

// The limit that this process had before, for the agents that it starts.
rlimit CallersProcessorLimit();

// How far below the hard limit, in seconds; 0: the limit stays as it is.
rlim_t ProcessorMargin(const rlimit& limit);

}  // namespace muster
