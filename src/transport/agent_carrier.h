// What carries the connection to an agent on another host: the interface by which RemoteAgent controls it.
#pragma once

#include <functional>
#include <string>

#include "wire/protocol/protocol.h"

namespace muster {

// Owned by its RemoteAgent, which it provides with wires.
class AgentCarrier {
 public:
  virtual ~AgentCarrier() = default;

  // Starts to connect.
  virtual void Begin() = 0;
  // The id of the run, with the first message to the agent.
  virtual void KnowRun(const std::string& run) { static_cast<void>(run); }
  // The agent has sent its first message.
  virtual void OnOpen() = 0;
  // The agent has attested that nothing is left; its wire may still be open. Returns whether the run may end before the
  // agent and what carries its connection have ended (HostCleared).
  virtual bool OnEmpty() = 0;
  // How the agent itself has ended, as its guard reports; false if nobody can report that on this connection.
  virtual bool TakeOwnEnd(const AgentExited& end) = 0;
  // No more messages: `reason` is empty for a plain end of the stream. One of the last messages must follow, unless the
  // lease is to expire.
  virtual void OnWireEnd(const std::string& reason) = 0;
  // The lease has expired. Calls `answer`, once and from the loop or at once, with what says that the host is paused
  // ("slurm job 12 is suspended"); with an empty text if it is not, or if nobody knows.
  virtual void AskWhetherPaused(std::function<void(const std::string& phrase)> answer) { answer({}); }
  // Ends the connection. `await`: on return it is gone.
  virtual void Cut(bool await) = 0;
  // The connection is over: nothing may be called later.
  virtual void OnStop() = 0;
  // After OnStop(), for a channel that was destroyed before its end: sees to it that the agent ends. May block for a
  // few seconds. `open`: there was an agent.
  virtual void OnClose(bool open) = 0;
};

}  // namespace muster
