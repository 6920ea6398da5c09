// muster run --detach, muster sweep --detach: the head continues in the background, and the command reports the start.
#pragma once

#include <functional>

#include "run/session/run_request.h"

namespace muster {

// Returns twice. In the caller's process once the processes have been ordered to start: prints the run's id and folder
// to stdout, and returns 0; if the start fails, prints the reason and returns the code of a foreground run. In the new
// process when the run is over, with the run's own code.
int RunInBackground(RunRequest request, Transport& transport);

// In a background head: reports the start, or its failure.
class BackgroundLine {
 public:
  virtual ~BackgroundLine() = default;
  // Only the first call has an effect. `waits`: which devices it waits for and who holds them.
  virtual void Begun(const std::string& id, const std::string& folder, const std::string& waits) = 0;
  virtual void Failed(int exit_code, Diagnostics why) = 0;
};

// The same for any head: `head` runs in the new process, which exits with its result. `what`: "run", "sweep".
int InBackground(const std::string& what, const std::function<int(BackgroundLine& line)>& head);

}  // namespace muster
