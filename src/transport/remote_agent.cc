#include "transport/remote_agent.h"

#include <csignal>
#include <variant>

#include <boost/asio/post.hpp>
#include <sys/socket.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

std::string Seconds(std::uint64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

}  // namespace

RemoteAgent::RemoteAgent(boost::asio::io_context& io, std::uint32_t host, std::uint64_t lease_ms)
    : io_(io), host_(host), lease_ms_(lease_ms), lease_end_(io.get_executor()) {}

void RemoteAgent::Begin(std::unique_ptr<AgentCarrier> carrier) {
  carrier_ = std::move(carrier);
  carrier_->Begin();
}

void RemoteAgent::Use(std::shared_ptr<Wire> wire) {
  link_.state = State::kConnecting;
  link_.why.clear();
  link_.failure.clear();
  link_.wire_ended = false;
  wire_ = std::move(wire);
  wire_->Start(Later(*this, [](RemoteAgent& self, const std::string& payload) { self.OnFrame(payload); }),
               Later(*this, [](RemoteAgent& self, const std::string& reason) { self.EndWire(reason); }),
               IsAgentHeartbeat);
  wire_->Send(early_);
}

// --- incoming --------------------------------------------------------------------------------------

void RemoteAgent::OnFrame(const std::string& payload) {
  auto message = DecodeMessage(payload);
  if (!message || FailsHere(Fault::kHeadMessage)) return BreakOff("it sent a message that cannot be read");
  if (link_.state == State::kConnecting) Open();
  if (const auto* end = std::get_if<AgentExited>(&*message); end && end->number == 0 && carrier_->TakeOwnEnd(*end)) {
    return;
  }
  if (link_.empty) return;  // nothing else may follow
  if (const auto* heartbeat = std::get_if<AgentHeartbeat>(&*message)) {
    const auto clock = heartbeats_->Heard(*heartbeat);
    if (std::exchange(paused_, false)) {
      Deliver(HostPaused{});
      if (link_.state == State::kOver) return;
    }
    wire_->SendUrgent(EncodeFrame(AgentCommand(HeadHeartbeat{heartbeat->number})));
    if (clock) Deliver(ClockCompared{host_, clock->offset_ns, clock->error_ns});
    return;
  }
  if (auto* last = std::get_if<AgentEmpty>(&*message)) {
    link_.empty = *last;
    if (carrier_->OnEmpty()) Deliver(HostCleared{std::move(*last)});
    return;
  }
  if (const auto* failed = std::get_if<AgentFailed>(&*message)) link_.why = link_.failure = failed->why;
  std::visit(Overloaded{[](AgentHeartbeat&) {}, [this](auto& held) { Deliver(std::move(held)); }}, *message);
}

void RemoteAgent::Open() {
  link_.state = State::kOpen;
  early_.clear();
  carrier_->OnOpen();
  heartbeats_.emplace(lease_ms_);
  AwaitLeaseEnd();
}

void RemoteAgent::AwaitLeaseEnd() {
  lease_end_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(heartbeats_->LookAt())));
  lease_end_.async_wait(Later(*this, [](RemoteAgent& self, const boost::system::error_code& error) {
    if (error) return;
    if (!self.heartbeats_->Expired()) return self.AwaitLeaseEnd();
    if (self.link_.wire_ended) return self.Unheard();  // a host that is paused keeps its connection
    self.carrier_->AskWhetherPaused([weak = self.weak_from_this()](const std::string& phrase) {
      const auto agent = weak.lock();
      if (agent && agent->link_.state != State::kOver) agent->OnPauseAnswer(phrase);
    });
  }));
}

void RemoteAgent::OnPauseAnswer(const std::string& phrase) {
  if (!phrase.empty()) {
    paused_ = true;
    Deliver(HostPaused{phrase});
    if (link_.state == State::kOver) return;
  } else if (!std::exchange(paused_, false)) {
    // A heartbeat may have come while the engine was asked.
    if (MonotonicNowNs() >= heartbeats_->LostAt()) return Unheard();
    return AwaitLeaseEnd();
  }
  heartbeats_->Resumed();
  AwaitLeaseEnd();
}

void RemoteAgent::Unheard() {
  Deliver(HostUnheard{});
  if (link_.state == State::kOver) return;
  carrier_->Cut(true);
  if (why().empty()) why() = "no heartbeat";
  Lost(why() + " for " + Seconds(lease_ms_), 0, lease_ms_);
}

// --- outgoing --------------------------------------------------------------------------------------

void RemoteAgent::Send(const AgentCommand& command) {
  if (link_.state == State::kOver) return;
  if (link_.state == State::kOpen) return wire_->Send(EncodeFrame(command));
  if (std::holds_alternative<Finish>(command)) return GiveUp();
  std::string frame;
  if (const auto* hello = std::get_if<Hello>(&command)) {
    carrier_->KnowRun(hello->run_id);
    Hello with_lease = *hello;
    with_lease.lease_ms = lease_ms_;
    frame = EncodeFrame(AgentCommand(with_lease));
  } else {
    frame = EncodeFrame(command);
  }
  early_ += frame;  // for this attempt and later ones
  if (link_.state == State::kConnecting) wire_->Send(frame);
}

void RemoteAgent::GiveUp() {
  carrier_->Cut(true);
  Stop();
  boost::asio::post(io_, [self = shared_from_this()] {
    self->Deliver(AgentUnreachable{"the connection attempt was abandoned", {}, true});
  });
}

// --- ends ------------------------------------------------------------------------------------------

void RemoteAgent::BreakOff(const std::string& why) {
  if (link_.wire_ended || link_.state == State::kOver) return;
  link_.broken_off = true;
  carrier_->Cut(false);
  EndWire(why);
}

void RemoteAgent::EndWire(const std::string& reason) {
  if (link_.wire_ended || link_.state == State::kOver) return;
  link_.wire_ended = true;
  if (wire_) wire_->Close();
  if (link_.why.empty()) link_.why = reason;
  carrier_->OnWireEnd(reason);
}

void RemoteAgent::Unreachable(std::string phrase, std::string hint) {
  Last(AgentUnreachable{std::move(phrase), std::move(hint)});
}

void RemoteAgent::Lost(std::string text, std::uint32_t killed, std::uint64_t unheard_ms) {
  AgentLost lost;
  lost.host = host_;
  lost.why = std::move(text);
  lost.killed = killed;
  lost.unheard_ms = unheard_ms;
  Last(std::move(lost));
}

void RemoteAgent::Empty() { Last(std::move(*link_.empty)); }

void RemoteAgent::Last(ChannelMessage message) {
  Stop();
  Deliver(std::move(message));
}

void RemoteAgent::Deliver(ChannelMessage message) {
  const Channel::Receiver to = receiver_;  // it may destroy the channel
  if (to) to(std::move(message));
}

void RemoteAgent::Stop() {
  link_.state = State::kOver;
  lease_end_.cancel();
  if (wire_) wire_->Close();
  carrier_->OnStop();
}

void RemoteAgent::Close() {
  receiver_ = nullptr;
  if (link_.state == State::kOver) return;
  const bool open = link_.state == State::kOpen;
  Stop();
  carrier_->OnClose(open);
}

namespace {

constexpr const char* kNoResponse = "no response";

// The last line that the agent itself wrote, without its prefix; empty if there is none.
std::string WordOfAgent(std::string_view words) {
  constexpr std::string_view kName = "muster-agent: ";
  const std::size_t at = words.rfind(kName);
  if (at == std::string_view::npos || (at > 0 && words[at - 1] != '\n')) return {};
  const std::string_view line = words.substr(at + kName.size());
  return Printable(line.substr(0, line.find_first_of("\r\n")));
}

}  // namespace

CommandCarrier::CommandCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<Launcher> launcher,
                               std::shared_ptr<HostCommands> commands, const TransportHost& host)
    : io_(io),
      agent_(agent),
      launcher_(std::move(launcher)),
      commands_(std::move(commands)),
      host_(host),
      patience_(io.get_executor()) {}

// --- one connection attempt ---

void CommandCarrier::Begin() {
  using Argv = std::vector<std::string>;
  commands_->Enter(
      host_,
      {.begin = agent_.Later(*this, [](CommandCarrier& self, const Argv& argv) { self.Connect(argv); }),
       .refuse = agent_.Later(*this, [](CommandCarrier& self,
                                        const CommandFailure& why) { self.agent_.Unreachable(why.phrase, why.hint); }),
       .gone = agent_.Later(*this, [](CommandCarrier& self, const std::string& why) { self.OnGone(why); })});
}

void CommandCarrier::KnowRun(const std::string& run) { commands_->KnowRun(run); }

void CommandCarrier::Connect(const std::vector<std::string>& argv) {
  if (const std::string error = StartCommandOf(argv); !error.empty()) return agent_.Unreachable(error, {});
  patience_.expires_after(commands_->GreetingPatience());
  patience_.async_wait(agent_.Later(*this, [](CommandCarrier& self, const boost::system::error_code& error) {
    if (error) return;
    self.agent_.why() = kNoResponse;
    self.Cut(false);
  }));
}

std::string CommandCarrier::StartCommandOf(const std::vector<std::string>& argv) {
  const std::string name(commands_->name());
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no connection for " + name;
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  SpawnSpec spec;
  spec.argv = argv;
  spec.stdin_fd = theirs.get();
  spec.stdout_fd = theirs.get();
  spec.parent_death_signal = SIGTERM;
  auto command = WatchedCommand::Start(io_, *launcher_, std::move(spec),
                                       agent_.Later(*this, [](CommandCarrier& self) { self.OnCommandEnd(); }));
  if (!command) return name + " cannot be started: " + command.error();
  command_ = std::move(*command);
  auto made = Wire::Make(io_, std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
  if (!made) return "the connection to " + name + ": " + made.error();
  agent_.Use(std::move(*made));
  return {};
}

void CommandCarrier::OnOpen() {
  patience_.cancel();
  commands_->Passed(host_.index);
}

// --- ends ---

// Commands to many hosts have many descriptors, and these are closed before the run ends.
bool CommandCarrier::OnEmpty() {
  agent_.EndLease();
  agent_.EndWire({});
  return false;
}

// The command reports its exit code.
bool CommandCarrier::TakeOwnEnd(const AgentExited&) { return false; }

void CommandCarrier::OnWireEnd(const std::string&) {
  if (command_->end()) return Conclude();
  if (agent_.link().empty) {
    patience_.expires_after(kPatienceAfterFinal);
  } else {
    patience_.expires_after(kCommandPatience);
  }
  patience_.async_wait(agent_.Later(*this, [](CommandCarrier& self, const boost::system::error_code& error) {
    if (!error) self.Cut(false);
  }));
}

void CommandCarrier::OnCommandEnd() {
  TakeCommand();
  if (agent_.link().wire_ended) Conclude();  // else its last messages are still on their way
}

void CommandCarrier::TakeCommand() {
  command_->Take();
  patience_.cancel();
}

void CommandCarrier::Cut(bool await) {
  if (!command_) return;
  command_->Signal(SIGKILL);
  if (await) TakeCommand();
}

// Its stopped command passes on nothing in either direction, and both sides hear nothing.
bool CommandCarrier::Hold(bool held) {
  if (!command_ || command_->end()) return false;
  command_->Signal(held ? SIGSTOP : SIGCONT);
  return true;
}

void CommandCarrier::Conclude() {
  const EndedProcess end = *command_->end();
  const bool open = agent_.link().state == RemoteAgent::State::kOpen;
  if (agent_.link().empty) return agent_.Empty();
  const std::optional<std::string> own = commands_->OwnFailure(end, command_->Words());
  // An agent that ended by itself knows best why.
  if (!gone_.empty() && (own || commands_->MayKnowMore(end)))
    return open ? agent_.Lost(gone_) : agent_.Unreachable(gone_, {});
  std::string& why = agent_.why();
  if (agent_.link().state == RemoteAgent::State::kConnecting) {
    if (!why.empty()) {
      return agent_.Unreachable("its agent: " + why, why == kNoResponse ? commands_->SilenceHint() : std::string());
    }
    const CommandFailure failure = commands_->FailureOf(host_.index, end, command_->Words());
    if (!failure.again) return agent_.Unreachable(failure.phrase, failure.hint);
    agent_.AwaitRetry();
    command_.reset();
    return;
  }
  if (!own) {
    // The agent's guard on the host has cleaned up the rest.
    std::string text = "the agent " + EndText(end);
    for (const std::string& more : {why, WordOfAgent(command_->Words())}) {
      if (!more.empty() && text.find(more) == std::string::npos) text += ": " + more;
    }
    return commands_->MayKnowMore(end) ? LostAfterReason(std::move(text)) : agent_.Lost(std::move(text));
  }
  // The other side may not have noticed yet, and continue until its lease expires.
  if (agent_.link().broken_off) {
    why += "; the connection was closed, and no heartbeat came";
    return;
  }
  // An agent that failed has said so; how its connection ended follows from that. Nobody attests that nothing is left.
  if (!agent_.link().failure.empty()) {
    why = "the agent failed: " + agent_.link().failure + "; no heartbeat came";
    return;
  }
  why = "the connection broke (" + *own + "), and no heartbeat came";
}

void CommandCarrier::LostAfterReason(std::string text) {
  patience_.expires_after(kReasonPatience);
  patience_.async_wait(
      agent_.Later(*this, [text = std::move(text)](CommandCarrier& self, const boost::system::error_code& error) {
        if (!error) self.agent_.Lost(text);
      }));
}

void CommandCarrier::OnGone(const std::string& why) {
  if (!gone_.empty()) return;
  gone_ = why;
  if (agent_.link().wire_ended && command_->end()) return Conclude();
  // The last messages of the agent may be on their way.
  patience_.expires_after(kReasonPatience);
  patience_.async_wait(agent_.Later(*this, [](CommandCarrier& self, const boost::system::error_code& error) {
    if (!error) self.Cut(false);
  }));
}

void CommandCarrier::OnStop() {
  commands_->Left(host_.index);
  patience_.cancel();
}

void CommandCarrier::OnClose(bool open) {
  if (!command_ || command_->end()) return;
  // The command reports the end of stdin to the other side, which ends the agent.
  if (!open || !command_->EndsWithin(kPartingPatience)) Cut(false);
  command_->Take();
}

}  // namespace muster
