// Messages of the agent protocol: agents below an agent, one per run (agent/program/sub_agents.h).
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// Start a sub-agent: an agent for one more run, with its own process and event loop. AgentExited reports its exit.
// `number` must not be that of a sub-agent whose AgentExited has not arrived.
struct OpenAgent {
  std::uint32_t number = 0;
};

// Bytes from the head for the sub-agent: part of a stream of frames, split anywhere.
struct ToAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The head sends nothing more to the sub-agent, as if its connection had closed. Ignored if it has already exited.
struct CloseAgent {
  std::uint32_t number = 0;
};

// Bytes from the sub-agent: part of a stream of frames, split anywhere.
struct FromAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The sub-agent has exited, all its output has been forwarded, and every process that it started is gone, except those
// that cannot be killed; `why` states their number. Number 0 is the agent
// itself: its guard sends this at the end of a connection that the agent dialled.
struct AgentExited {
  std::uint32_t number = 0;
  std::string why;           // why it failed: "ended by signal 9 (SIGKILL)"; empty if it finished normally
  std::uint32_t killed = 0;  // number of its remaining processes that were killed
};

}  // namespace muster
