// The end of a connection by which an agent has dialled back: how the agent ended, and nothing after that.
//
// Sent by the agent's guard, which survives it, or by an agent without a guard, once nothing of the agent is left: a
// head waits for no lease then.
#pragma once

#include <atomic>
#include <cstdint>

#include "spawn/start/reap.h"

namespace muster {

// Reports the end (AgentExited of number 0) unless the agent finished, and ends the stream. `partial`: the agent was
// cut off within a frame, so that no other can follow. Returns once the head has ended its side too, or after a
// second: closing a socket that has unread bytes would discard what was sent (RFC 2525, 2.17).
void SayLastWord(int connection, const EndedProcess& end, std::uint32_t killed, bool partial);

// Something is left that cannot be ended: the head sees a reset, which proves nothing, and waits for the lease's end.
void ResetConnection(int connection);

}  // namespace muster
