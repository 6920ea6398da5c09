// The head's end of a connection to an agent on another host, whatever carries it: commands and messages, the lease,
// the comparison of the clocks, and the channel's last message; and the carrier that is a command (ssh, kubectl
// exec), from the first attempt to its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_fd.h"
#include "transport/agent_heartbeats.h"
#include "transport/transport.h"
#include "transport/watched_command.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

// What carries the connection to an agent on another host: the interface by which RemoteAgent controls it.

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
  // The agent has attested that nothing is left; its wire may still be open. Returns true if the run may finish
  // although the agent and its connection have not exited yet (HostCleared).
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
  // As Channel::Hold.
  virtual bool Hold(bool held) {
    static_cast<void>(held);
    return false;
  }
  // The connection is over: nothing may be called later.
  virtual void OnStop() = 0;
  // After OnStop(), for a channel that was destroyed before its end: sees to it that the agent ends. May block for a
  // few seconds. `open`: there was an agent.
  virtual void OnClose(bool open) = 0;
};

// The head's end of a connection to an agent on another host, whatever carries it: commands and messages, the lease
// with its heartbeats, the comparison of the clocks, and the channel's last message.
//
// Depends on the wire protocol and the lease; not on how the agent was started or reached: its carrier
// provides the wire. RemoteChannel is the channel around it. Delivers AgentUnreachable if there never
// was an agent, AgentEmpty or AgentLost if there was one: AgentLost once nothing of the agent is left on the host, or
// once the agent has had the time to clean up, which is when the lease expires. HostCleared comes before AgentEmpty if
// the carrier says so.

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
  bool Hold(bool held) { return link_.state == State::kOpen && carrier_->Hold(held); }
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
  void Lost(std::string text, std::uint32_t killed = 0, std::uint64_t unheard_ms = 0);
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
  bool Hold(bool held) override { return agent_->Hold(held); }

 private:
  const std::shared_ptr<RemoteAgent> agent_;
};

// The interface to commands whose stdin and stdout lead to agents (ssh, kubectl exec): when the command of a host
// starts, and what its end means. CommandCarrier is the connection itself.

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

// The command (ssh, kubectl exec) that carries the connection to the agent of another host, from the first attempt to
// its end.
//
// What is particular to ssh or kubectl is its HostCommands'; what is common to all other hosts is RemoteAgent's.
// Delivers AgentEmpty only once the command has exited, and AgentLost before the lease expires only if the command, or
// its HostCommands, has reported how the agent ended.
class CommandCarrier final : public AgentCarrier {
 public:
  // A command that has not exited this long after its connection ended is killed; after the agent's final message it is
  // not waited for: something that the login left behind may hold the stream open.
  static constexpr std::chrono::seconds kCommandPatience{10};
  static constexpr std::chrono::milliseconds kPatienceAfterFinal{500};
  // How long the HostCommands may take to say more about an end.
  static constexpr std::chrono::seconds kReasonPatience{3};
  // How long a destroyed channel waits for the other side to notice before the command is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // The connection begins when `commands` says so.
  CommandCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<Launcher> launcher,
                 std::shared_ptr<HostCommands> commands, const TransportHost& host);

  void Begin() override;
  void KnowRun(const std::string& run) override;
  void OnOpen() override;
  bool OnEmpty() override;
  bool TakeOwnEnd(const AgentExited& end) override;
  void OnWireEnd(const std::string& reason) override;
  void Cut(bool await) override;
  bool Hold(bool held) override;
  void OnStop() override;
  void OnClose(bool open) override;

 private:
  void Connect(const std::vector<std::string>& argv);
  // Empty, or an error.
  std::string StartCommandOf(const std::vector<std::string>& argv);
  void OnCommandEnd();
  void TakeCommand();
  void Conclude();
  void LostAfterReason(std::string text);
  void OnGone(const std::string& why);

  boost::asio::io_context& io_;
  RemoteAgent& agent_;
  const std::shared_ptr<Launcher> launcher_;
  const std::shared_ptr<HostCommands> commands_;
  const TransportHost host_;
  std::shared_ptr<WatchedCommand> command_;  // null between attempts
  std::string gone_;                         // what the HostCommands report about the end of the host
  RemoteAgent::Timer patience_;
};

}  // namespace muster
