// muster run --detach: the head goes on in the background, and the command tells how it began.
#pragma once

#include "run/session.h"

namespace muster {

// Returns twice. In the caller's process once the processes have been ordered to start: it prints the run's id and
// folder to stdout, and gives 0; if it does not come to that, it prints why and gives the code of a run in the
// foreground. In the new process when the run is over, with the run's own code.
int RunInBackground(RunRequest request, Transport& transport);

}  // namespace muster
