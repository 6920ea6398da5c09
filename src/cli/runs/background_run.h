// muster run --detach, muster sweep --detach: the head goes on in the background, and the command reports how it began.
#pragma once

#include <functional>

#include "run/session/run_request.h"

namespace muster {

// Returns twice. In the caller's process once the processes have been ordered to start: it prints the run's id and
// folder to stdout, and gives 0; if it does not come to that, it prints why and gives the code of a run in the
// foreground. In the new process when the run is over, with the run's own code.
int RunInBackground(RunRequest request, Transport& transport);

// In a head in the background: how it began, or why it did not.
class BackgroundLine {
 public:
  virtual ~BackgroundLine() = default;
  // Once; later calls do nothing. `waits`: which devices it waits for and who holds them.
  virtual void Begun(const std::string& id, const std::string& folder, const std::string& waits) = 0;
  virtual void Failed(int exit_code, Diagnostics why) = 0;
};

// The same for any head: `head` runs in the new process, which exits with what it returns. `what`: "run", "sweep".
int InBackground(const std::string& what, const std::function<int(BackgroundLine& line)>& head);

}  // namespace muster
