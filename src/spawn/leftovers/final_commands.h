// Commands that remove what processes leave outside the process table, such as the records of containers. They run
// after the processes have been killed, even if the process that started them was killed as well.
//
// The list is memory that a process shares with all that it forks later: an agent's guard runs the commands of a killed
// agent, a standing agent those of a killed sub-agent. Independent of what the commands do.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

class FinalCommands {
 public:
  // Creates the list; a later call, also in a forked process, does nothing. Without memory for it nothing is
  // remembered.
  static void Share();

  // A process that needs the command has been started by this process. False if the command is longer than 4000 bytes
  // or the list of 64 commands is full.
  static bool Begun(const std::vector<std::string>& command);
  // Such a process has ended in a way that leaves nothing.
  static void Ended(const std::vector<std::string>& command);

  // Runs and forgets each command that is needed by a process of this process, or of one that has exited: with this
  // process's environment, without output, at most `patience` each. Returns how many were run. Blocks.
  static std::uint32_t RunNeeded(std::chrono::milliseconds patience = std::chrono::seconds(20));
};

}  // namespace muster
