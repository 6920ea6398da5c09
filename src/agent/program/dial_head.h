// The connection by which an agent dials back: from a dial file to a connection whose other end has proven to be the
// head that wrote the file, and at the end the last message, how the agent ended. Blocks, and knows no event loop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/reap.h"

namespace muster {

// Dialling back: from a dial file to a connection whose other end has proven to be the head that wrote the file.
//
// Blocks, and knows no event loop: nothing has been started yet. Of several addresses the first is used at which the
// head's proof holds (wire/connection/dial.h), so that it does not matter which networks the two have in common.

struct DialedHead {
  UniqueFd connection;  // a connected socket, closed on exec
  std::string address;  // the own one, as an IP literal; empty if it is a loopback address
};

// How long to go on trying; a head that writes the file listens already.
inline constexpr std::chrono::seconds kDialPatience{60};

// `path`: of a regular file that the caller owns and nobody else may read; its last part must not be a link. Retries
// with growing, random pauses. The error is a phrase: what is wrong with the file, which node the head refused and why,
// or what happened at each address.
tl::expected<DialedHead, std::string> DialHead(const std::string& path,
                                               std::chrono::milliseconds patience = kDialPatience);

// The end of a connection by which an agent has dialled back: how the agent ended, and nothing after that.
//
// Sent by the agent's guard, which survives it, or by an agent without a guard, once nothing of the agent is left: a
// head waits for no lease then.

// Reports the end (AgentExited of number 0) unless the agent finished, and ends the stream. `partial`: the agent was
// cut off within a frame, so that no other can follow. Returns once the head has ended its side too, or after a
// second: closing a socket that has unread bytes would discard what was sent (RFC 2525, 2.17).
void SayLastWord(int connection, const EndedProcess& end, std::uint32_t killed, bool partial);

// Something is left that cannot be ended: the head sees a reset, which proves nothing, and waits for the lease's end.
void ResetConnection(int connection);

}  // namespace muster
