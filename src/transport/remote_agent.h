// The head's end of a connection to an agent on another host, whatever carries it: commands and messages, the lease
// with its heartbeats, the comparison of the clocks, and the channel's last message.
//
// Depends on the wire protocol and the lease; not on how the agent was started or reached: its carrier
// (agent_carrier.h) provides the wire. RemoteChannel is the channel around it. Delivers AgentUnreachable if there never
// was an agent, AgentEmpty or AgentLost if there was one: AgentLost once nothing of the agent is left on the host, or
// once the agent has had the time to clean up, which is when the lease expires. HostCleared comes before AgentEmpty if
// the carrier says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"
#include "transport/agent_carrier.h"
#include "transport/agent_heartbeats.h"
#include "transport/channel.h"
#include "transport/unchecked_channel.h"
#include "wire/connection/wire.h"

namespace muster {

// Outlives its channel as long as handlers of the loop refer to it; after the end they do nothing.
class RemoteAgent : public std::enable_shared_from_this<RemoteAgent> {
 public:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  enum class State : std::uint8_t { kWaiting, kConnecting, kOpen, kOver };

  // The connection as its carrier sees it.
  struct Link {
    State state = State::kWaiting;
    bool wire_ended = false;
    bool broken_off = false;          // by BreakOff()
    std::optional<AgentEmpty> empty;  // what the agent has attested
    std::string failure;              // AgentFailed::why: the agent's own last words
    // Why the agent is to be lost: its own message, or what was wrong with its connection. Extended by the lease's end.
    std::string why;
  };

  // `host`: index of the host, as in the messages. `io` must outlive the object.
  RemoteAgent(boost::asio::io_context& io, std::uint32_t host, std::uint64_t lease_ms);

  // --- for the channel ---
  void Begin(std::unique_ptr<AgentCarrier> carrier);  // once
  void SetReceiver(Channel::Receiver receiver) { receiver_ = std::move(receiver); }
  // Finish, before there is an agent, abandons the connection.
  void Send(const AgentCommand& command);
  void BreakOff(const std::string& why);
  // The channel is destroyed: no further messages.
  void Close();

  // --- for the carrier ---
  // A handler for the loop: calls the function with `self`, this object or its carrier, unless the connection is over.
  template <class Self, class Function>
  auto Later(Self& self, Function function) {
    return [weak = weak_from_this(), &self, function](auto&&... arguments) {
      if (const auto agent = weak.lock(); agent && agent->link_.state != State::kOver) function(self, arguments...);
    };
  }
  const Link& link() const { return link_; }
  std::string& why() { return link_.why; }
  // Begins a connection attempt over this wire: what has been sent so far goes through it first.
  void Use(std::shared_ptr<Wire> wire);
  // The attempt has failed and another one follows: Use().
  void AwaitRetry() { link_.state = State::kWaiting; }
  // Stops listening. Calls OnWireEnd(), once for each wire.
  void EndWire(const std::string& reason);
  // The agent has ended: the lease is not needed any more. One of the last messages must follow.
  void EndLease() { lease_end_.cancel(); }
  // The last messages; the object may be destroyed on return, so call them last.
  void Unreachable(std::string phrase, std::string hint);  // for a connection that was never established
  void Lost(std::string text, std::uint32_t killed = 0);
  void Empty();  // what the agent has attested

 private:
  void OnFrame(const std::string& payload);
  void Open();
  void AwaitLeaseEnd();
  // What says that the host is paused; empty: it is not, or nobody knows.
  void OnPauseAnswer(const std::string& phrase);
  // The lease has expired.
  void Unheard();
  void GiveUp();
  void Last(ChannelMessage message);
  void Deliver(ChannelMessage message);
  void Stop();

  boost::asio::io_context& io_;
  const std::uint32_t host_;
  const std::uint64_t lease_ms_;
  std::unique_ptr<AgentCarrier> carrier_;
  Link link_;
  std::shared_ptr<Wire> wire_;
  std::string early_;  // frames sent before there was an agent
  Timer lease_end_;
  std::optional<AgentHeartbeats> heartbeats_;
  bool paused_ = false;
  Channel::Receiver receiver_;
};

// Owns its agent's connection, and closes it when destroyed.
class RemoteChannel final : public UncheckedChannel {
 public:
  explicit RemoteChannel(std::shared_ptr<RemoteAgent> agent) : agent_(std::move(agent)) {}
  ~RemoteChannel() override { agent_->Close(); }
  RemoteChannel(const RemoteChannel&) = delete;
  RemoteChannel& operator=(const RemoteChannel&) = delete;

  void Send(const AgentCommand& command) override { agent_->Send(command); }
  void SetReceiver(Receiver receiver) override { agent_->SetReceiver(std::move(receiver)); }
  void BreakOff(const std::string& why) override { agent_->BreakOff(why); }

 private:
  const std::shared_ptr<RemoteAgent> agent_;
};

}  // namespace muster
