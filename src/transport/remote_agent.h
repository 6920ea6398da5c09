// The head's end of a connection to an agent on another host, whatever carries it: commands and messages, the lease
// with its heartbeats, the comparison of the clocks, and the channel's last message.
//
// Depends on the wire protocol and the lease; not on how the agent was started or reached. A transport derives its
// connection from RemoteAgent, hands it a wire, and says by the hooks what carries that wire; RemoteChannel is the
// channel around it. Delivers AgentUnreachable if there never was an agent, AgentEmpty or AgentLost if there was one:
// AgentLost once nothing of the agent is left on the host, or once the agent has had the time to clean up, which is
// when the lease expires.
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
#include "transport/channel.h"
#include "transport/clock_offset.h"
#include "transport/unchecked_channel.h"
#include "wire/connection/wire.h"
#include "wire/lease/host_lease.h"

namespace muster {

// Outlives its channel as long as handlers of the loop refer to it; after the end they do nothing.
class RemoteAgent : public std::enable_shared_from_this<RemoteAgent> {
 public:
  virtual ~RemoteAgent() = default;
  RemoteAgent(const RemoteAgent&) = delete;
  RemoteAgent& operator=(const RemoteAgent&) = delete;

  void SetReceiver(Channel::Receiver receiver) { receiver_ = std::move(receiver); }
  // Finish, before there is an agent, abandons the connection.
  void Send(const AgentCommand& command);
  void BreakOff(const std::string& why);
  // The channel is destroyed: no further messages.
  void Close();

 protected:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  enum class State : std::uint8_t { kWaiting, kConnecting, kOpen, kOver };

  // `host`: index of the host, as in the messages. `io` must outlive the object.
  RemoteAgent(boost::asio::io_context& io, std::uint32_t host, std::uint64_t lease_ms);

  // A handler for the loop: calls the method while the object exists and is not over.
  template <class Self, class Method>
  static auto Later(Self& caller, Method method) {
    return [weak = std::weak_ptr<Self>(std::static_pointer_cast<Self>(caller.shared_from_this())),
            method](auto&&... arguments) {
      if (const auto self = weak.lock(); self && self->state_ != State::kOver) method(*self, arguments...);
    };
  }

  State state() const { return state_; }
  boost::asio::io_context& io() const { return io_; }
  std::uint32_t host() const { return host_; }
  bool wire_ended() const { return wire_ended_; }
  bool broken_off() const { return broken_off_; }  // by BreakOff()
  bool attested() const { return empty_.has_value(); }
  const Wire* wire() const { return wire_.get(); }  // null before Use()
  // Why the agent is to be lost: its own word, or what was wrong with its connection. Extended by the lease's end.
  std::string& why() { return why_; }

  // The agent has ended: the lease is not needed any more. One of the last messages must follow.
  void EndLease() { lease_end_.cancel(); }

  // Begins a connection attempt over this wire: what has been sent so far goes through it first.
  void Use(std::shared_ptr<Wire> wire);
  // The attempt has failed and another one follows: Use().
  void AwaitRetry() { state_ = State::kWaiting; }
  // Stops listening. Calls OnWireEnd(), once for each wire.
  void EndWire(const std::string& reason);

  // The last messages; the object may be destroyed on return, so call them last.
  void Unreachable(std::string phrase, std::string hint);  // for a connection that was never established
  void Lost(std::string text, std::uint32_t killed = 0);
  void Empty();  // what the agent has attested

 private:
  // The agent has sent its first message.
  virtual void OnOpen() = 0;
  // The agent has attested that nothing is left (attested()); its wire may still be open.
  virtual void OnEmpty() = 0;
  // How the agent itself has ended, as its guard says; false if nobody can say that on this connection.
  virtual bool TakeOwnEnd(const AgentExited& end) = 0;
  // No more messages: `reason` is empty for a plain end of the stream. One of the last messages must follow, unless the
  // lease is to expire.
  virtual void OnWireEnd(const std::string& reason) = 0;
  // Ends what carries the wire, without waiting for it: a connection that is given up.
  virtual void Cut() = 0;
  // The same, and on return it is gone.
  virtual void CutAndAwait() = 0;
  // The connection is over: nothing may be called later.
  virtual void OnStop() = 0;
  // After OnStop(), for a channel that was destroyed before its end: sees to it that the agent ends. May block for a
  // few seconds. `open`: there was an agent.
  virtual void OnClose(bool open) = 0;

  void OnFrame(const std::string& payload);
  void Open();
  void OnHeartbeat(const AgentHeartbeat& beat);
  void AwaitLeaseEnd();
  void OnLeaseEnd();
  void GiveUp();
  void Last(ChannelMessage message);
  void Tell(ChannelMessage message);
  void Stop();

  boost::asio::io_context& io_;
  const std::uint32_t host_;
  const std::uint64_t lease_ms_;
  State state_ = State::kWaiting;
  std::shared_ptr<Wire> wire_;
  std::string early_;  // frames sent before there was an agent
  std::string why_;
  bool wire_ended_ = false;
  bool broken_off_ = false;
  Timer lease_end_;
  std::optional<HostLease> lease_;
  ClockOffset clock_;
  AgentHeartbeat answered_;  // the latest
  std::uint64_t answered_at_ = 0;
  std::uint64_t clock_told_at_ = 0;
  std::optional<AgentEmpty> empty_;
  Channel::Receiver receiver_;
};

// Owns its agent's connection, and closes it when destroyed.
class RemoteChannel : public UncheckedChannel {
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
