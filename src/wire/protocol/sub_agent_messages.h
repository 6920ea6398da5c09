// Messages of the agent protocol: agents below an agent (agent/program/sub_agents.h).
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// Be the agent of one more run: another agent, with a process and a loop of its own. Its end is told by AgentExited.
// The number must not be that of one whose AgentExited has not come.
struct OpenAgent {
  std::uint32_t number = 0;
};

// More of what the head says to that agent: a stream of frames, cut anywhere.
struct ToAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The head has no more to say to it: as if its connection had ended. One that is gone is not meant any more.
struct CloseAgent {
  std::uint32_t number = 0;
};

// More of what that agent says: the greeting and frames, cut anywhere.
struct FromAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// That agent has ended, all that it said has been sent, and nothing is left of what it had started but what cannot be
// ended, which `why` counts. Of number 0: the agent itself, as its guard says at the end of a connection that it
// dialled.
struct AgentExited {
  std::uint32_t number = 0;
  std::string why;           // what the agent did: "ended by signal 9 (SIGKILL)"; empty if it finished
  std::uint32_t killed = 0;  // processes that it had left
};

}  // namespace muster
