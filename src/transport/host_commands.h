// The interface to commands whose stdin and stdout lead to agents (ssh, kubectl exec): when the command of a host
// starts, and what its end means. CommandCarrier is the connection itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spawn/start/reap.h"
#include "transport/channel.h"

namespace muster {

// Why a host has no agent.
struct CommandFailure {
  std::string phrase;  // the same for all hosts with the same reason
  std::string hint;    // may be empty
  bool again = false;  // Calls::begin will be called again
};

class HostCommands {
 public:
  // Called from the loop, and not after Left().
  struct Calls {
    // The command may be started; its stdin and stdout lead to `muster-agent --stdio` on the host.
    std::function<void(const std::vector<std::string>& argv)> begin;
    // The host will have no agent: instead of `begin`.
    std::function<void(const CommandFailure& failure)> refuse;
    // After `begin`: nothing runs on the host any more.
    std::function<void(const std::string& why)> gone;
  };

  virtual ~HostCommands() = default;
  // Of the command: "ssh".
  virtual std::string_view name() const = 0;
  virtual void Enter(const TransportHost& host, Calls calls) = 0;
  // The id of the run, before any `begin`.
  virtual void KnowRun(const std::string& run) { static_cast<void>(run); }
  // The agent has sent its first message.
  virtual void Passed(std::uint32_t host) = 0;
  // The connection is over; once. No call follows.
  virtual void Left(std::uint32_t host) = 0;

  // How the command failed to reach an agent.
  virtual CommandFailure FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) = 0;
  // A phrase if the command itself has failed; nothing if it ended as the agent did.
  virtual std::optional<std::string> OwnFailure(const EndedProcess& end, const std::string& words) const = 0;
  // An agent that has not sent its first message this long after the command began is given up.
  virtual std::chrono::seconds GreetingPatience() const { return std::chrono::seconds(30); }
  // What may keep an agent from sending its first message, and what to do; the same for all hosts. May be empty.
  virtual std::string SilenceHint() const { return {}; }
  // Whether `gone` may soon say more about such an end of the agent.
  virtual bool MayKnowMore(const EndedProcess& end) const {
    static_cast<void>(end);
    return false;
  }
};

}  // namespace muster
