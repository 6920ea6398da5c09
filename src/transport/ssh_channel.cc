#include "transport/ssh_channel.h"

#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/overloaded.h"
#include "base/values/shell_quote.h"
#include "spawn/start/boost_launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_child.h"
#include "transport/clock_offset.h"
#include "transport/own_environment.h"
#include "transport/ssh_failure.h"
#include "wire/connection/wire.h"
#include "wire/lease/host_lease.h"
#include "wire/lease/lease.h"

namespace muster {
namespace {

constexpr std::size_t kKeptWords = 8U << 10;         // of ssh's latest output on stderr
constexpr std::uint64_t kAwakeNs = 100'000'000;      // a running loop is never later than this
constexpr std::uint64_t kClockPauseNs = 50'000'000;  // between two reported comparisons

std::string Seconds(std::uint64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

// The last line that the agent itself wrote, without its prefix; empty if there is none.
std::string WordOfAgent(std::string_view words) {
  constexpr std::string_view kName = "muster-agent: ";
  const std::size_t at = words.rfind(kName);
  if (at == std::string_view::npos || (at > 0 && words[at - 1] != '\n')) return {};
  const std::string_view line = words.substr(at + kName.size());
  return Printable(line.substr(0, line.find_first_of("\r\n")));
}

}  // namespace

// Outlives the channel as long as handlers of the loop refer to it; after the end they do nothing.
struct SshChannel::Connection : std::enable_shared_from_this<Connection> {
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  enum class State : std::uint8_t { kWaiting, kConnecting, kOpen, kOver };

  Connection(boost::asio::io_context& loop, std::shared_ptr<Launcher> the_launcher, std::shared_ptr<SshGate> the_gate,
             const TransportHost& the_host, std::vector<std::string> the_argv, std::uint64_t the_lease_ms)
      : io(loop),
        launcher(std::move(the_launcher)),
        gate(std::move(the_gate)),
        host(the_host),
        argv(std::move(the_argv)),
        lease_ms(the_lease_ms),
        err(io.get_executor()),
        patience(io.get_executor()),
        lease_end(io.get_executor()) {}

  template <class Method>
  auto Later(Method method) {
    return [weak = weak_from_this(), method](auto&&... arguments) {
      if (const auto self = weak.lock(); self && self->state != State::kOver) method(*self, arguments...);
    };
  }

  void Enter() {
    gate->Enter(host.index, host.name, Later([](Connection& self) { self.Begin(); }));
  }

  // --- one connection attempt ---

  void Begin() {
    state = State::kConnecting;
    words.clear();
    why.clear();
    wire_ended = false;
    if (const std::string error = StartSsh(); !error.empty()) return Unreachable(error, {});
    wire->Start(Later([](Connection& self, const std::string& payload) { self.OnFrame(payload); }),
                Later([](Connection& self, const std::string& reason) { self.OnWireEnd(reason); }), IsAgentHeartbeat);
    wire->Send(early);
    ReadWords();
    ssh->AwaitEnd(Later([](Connection& self) { self.OnSshEnd(); }));
    patience.expires_after(kGreetingPatience);
    patience.async_wait(Later([](Connection& self, const boost::system::error_code& error) {
      if (error) return;
      self.why = "no response";
      self.KillSsh();
    }));
  }

  // Returns an empty text, or an error.
  std::string StartSsh() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no connection for ssh";
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe for ssh";
    UniqueFd read(ends[0]);
    const UniqueFd write(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
    SpawnSpec spec;
    spec.argv = argv;
    spec.env = OwnEnvironment();
    spec.stdin_fd = theirs.get();
    spec.stdout_fd = theirs.get();
    spec.stderr_fd = write.get();
    spec.grouping = Grouping::kOwnSession;
    spec.parent_death_signal = SIGTERM;
    auto process = BoostLauncher(*launcher)(io.get_executor(), spec);
    if (!process) return "ssh cannot be started: " + SpawnErrorText(process.error());
    ssh = std::make_shared<WatchedChild>(io, std::move(*process));
    auto made = Wire::Make(io, std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
    if (!made) return "the connection to ssh: " + made.error();
    wire = std::move(*made);
    boost::system::error_code ignored;
    err.close(ignored);
    err.assign(read.get(), ignored);
    if (!ignored) read.release();
    return {};
  }

  void ReadWords() {
    err.async_wait(WatchedFd::wait_read, Later([](Connection& self, const boost::system::error_code& error) {
                     if (!error && self.TakeWords()) self.ReadWords();
                   }));
  }

  // Returns false at the end of the stream.
  bool TakeWords() {
    char bytes[4096];
    for (;;) {
      const ssize_t got = err.is_open() ? ::read(err.native_handle(), bytes, sizeof bytes) : 0;
      if (got < 0) return errno == EAGAIN || errno == EINTR;
      if (got == 0) return false;
      words.append(bytes, static_cast<std::size_t>(got));
      if (words.size() > kKeptWords) words.erase(0, words.size() - kKeptWords);
    }
  }

  // --- incoming ---

  void OnFrame(const std::string& payload) {
    auto message = DecodeMessage(payload);
    if (!message || FailsHere(Fault::kHeadMessage)) return BreakOff("it sent a message that cannot be read");
    if (state == State::kConnecting) Open();
    if (const auto* beat = std::get_if<AgentHeartbeat>(&*message)) return OnHeartbeat(*beat);
    if (auto* last = std::get_if<AgentEmpty>(&*message)) {
      empty = std::move(*last);
      return OnWireEnd({});
    }
    if (const auto* failed = std::get_if<AgentFailed>(&*message)) why = failed->why;
    std::visit(Overloaded{[](AgentHeartbeat&) {}, [this](auto& held) { Tell(std::move(held)); }}, *message);
  }

  void Open() {
    state = State::kOpen;
    patience.cancel();
    early.clear();
    gate->Passed(host.index);
    lease.emplace(lease_ms, MonotonicNowNs());
    AwaitLeaseEnd();
  }

  void OnHeartbeat(const AgentHeartbeat& beat) {
    const std::uint64_t now = MonotonicNowNs();
    wire->SendUrgent(EncodeFrame(AgentCommand(HeadHeartbeat{beat.number})));
    lease->Heard(now);
    if (beat.answered != 0 && beat.answered == answered.number) {
      clock.Add(answered.at, answered_at, beat.answered_at);
      // Limits how often clock estimates are reported.
      if (now - clock_told_at >= kClockPauseNs && clock.Better()) {
        clock_told_at = now;
        Tell(ClockCompared{host.index, clock.best()->offset_ns, clock.best()->error_ns});
      }
    }
    answered = beat;
    answered_at = now;
  }

  void AwaitLeaseEnd() {
    lease_end.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(lease->LostAt())));
    lease_end.async_wait(Later([](Connection& self, const boost::system::error_code& error) {
      if (error) return;
      const std::uint64_t now = MonotonicNowNs();
      if (now < self.lease->LostAt()) return self.AwaitLeaseEnd();
      // A timer that is late shows that this process did not run. Heartbeats that arrived meanwhile are read first.
      const std::uint64_t late = now - self.lease->LostAt();
      if (late < kAwakeNs) return self.OnLeaseEnd();
      self.lease->Slept(late);
      self.AwaitLeaseEnd();
    }));
  }

  void OnLeaseEnd() {
    KillSsh();
    if (!ssh_end) EndSsh();
    if (why.empty()) why = "no heartbeat";
    Lost(why + " for " + Seconds(lease_ms));
  }

  // --- ends ---

  void BreakOff(const std::string& reason) {
    if (wire_ended || state == State::kOver) return;
    broken_off = true;
    KillSsh();
    OnWireEnd(reason);
  }

  void OnWireEnd(const std::string& reason) {
    if (wire_ended || state == State::kOver) return;
    wire_ended = true;
    wire->Close();
    if (why.empty()) why = reason;
    if (ssh_end) return Conclude();
    patience.expires_after(kSshPatience);
    patience.async_wait(Later([](Connection& self, const boost::system::error_code& error) {
      if (!error) self.KillSsh();
    }));
  }

  void OnSshEnd() {
    EndSsh();
    if (wire_ended) Conclude();  // otherwise the agent's last messages are still on their way
  }

  void EndSsh() {
    ssh_end = ssh->Take();
    TakeWords();
    boost::system::error_code ignored;
    err.close(ignored);
    patience.cancel();
  }

  void KillSsh() {
    if (ssh && !ssh_end) KillChild(ssh->ref());
  }

  void Conclude() {
    const EndedProcess end = *ssh_end;
    if (empty) return Last(std::move(*empty));
    const bool by_ssh = end.signalled || end.code == kSshFailed;
    if (state == State::kConnecting) {
      if (!why.empty()) return Unreachable("its agent: " + why, {});
      const SshFailure failure = ClassifySshFailure(end.signalled ? std::nullopt : std::optional(end.code), words);
      if (failure.kind != SshFailureKind::kTurnedAway || !gate->TurnedAway(host.index)) {
        return Unreachable(failure.phrase, failure.hint);
      }
      state = State::kWaiting;
      ssh.reset();
      ssh_end.reset();
      return;
    }
    if (!by_ssh) {
      // The agent's guard on the host has cleaned up the rest.
      const std::string said = WordOfAgent(words);
      std::string text = "the agent " + EndText(end);
      for (const std::string& more : {why, said}) {
        if (!more.empty() && text.find(more) == std::string::npos) text += ": " + more;
      }
      return Lost(std::move(text));
    }
    // The other side may not have noticed yet, and continue until its lease expires.
    if (broken_off) {
      why += "; the connection was closed, and no heartbeat came";
      return;
    }
    const std::string reason = end.signalled ? "ssh " + EndText(end) : ClassifySshFailure(end.code, words).phrase;
    why = "the connection broke (" + reason + "), and no heartbeat came";
  }

  // For a connection that was never established.
  void Unreachable(std::string phrase, std::string hint) {
    gate->Passed(host.index);
    Last(AgentUnreachable{std::move(phrase), std::move(hint)});
  }

  void Lost(std::string text) {
    AgentLost lost;
    lost.host = host.index;
    lost.why = std::move(text);
    Last(std::move(lost));
  }

  void Last(ChannelMessage message) {
    Stop();
    Tell(std::move(message));
  }

  void Tell(ChannelMessage message) {
    const Receiver to = receiver;  // a copy: the receiver may destroy the channel
    if (to) to(std::move(message));
  }

  void Stop() {
    state = State::kOver;
    patience.cancel();
    lease_end.cancel();
    boost::system::error_code ignored;
    err.close(ignored);
    if (wire) wire->Close();
  }

  // --- outgoing ---

  void Send(const AgentCommand& command) {
    if (state == State::kOver) return;
    if (state == State::kOpen) return wire->Send(EncodeFrame(command));
    if (std::holds_alternative<Finish>(command)) return GiveUp();
    std::string frame;
    if (const auto* hello = std::get_if<Hello>(&command)) {
      Hello with_lease = *hello;
      with_lease.lease_ms = lease_ms;
      frame = EncodeFrame(AgentCommand(with_lease));
    } else {
      frame = EncodeFrame(command);
    }
    early += frame;  // sent again by later attempts
    if (state == State::kConnecting) wire->Send(frame);
  }

  void GiveUp() {
    if (ssh && !ssh_end) {
      KillSsh();
      EndSsh();
    }
    gate->Passed(host.index);
    Stop();
    boost::asio::post(io, [self = shared_from_this()] {
      self->Tell(AgentUnreachable{"the connection attempt was abandoned", {}});
    });
  }

  // The channel is destroyed: no further messages.
  void Close() {
    receiver = nullptr;
    if (state == State::kOver) return;
    const bool open = state == State::kOpen;
    gate->Passed(host.index);
    Stop();
    if (!ssh || ssh_end) return;
    // ssh reports the end of stdin to the other side, which ends the agent.
    const auto patience_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(kPartingPatience).count());
    if (!open || !EndsBy(ssh->ref(), MonotonicNowNs() + patience_ns)) KillSsh();
    ssh->Take();
  }

  boost::asio::io_context& io;
  const std::shared_ptr<Launcher> launcher;
  const std::shared_ptr<SshGate> gate;
  const TransportHost host;
  const std::vector<std::string> argv;
  const std::uint64_t lease_ms;

  State state = State::kWaiting;
  std::string early;  // frames for an agent that is not connected yet
  std::shared_ptr<WatchedChild> ssh;
  std::optional<EndedProcess> ssh_end;
  std::shared_ptr<Wire> wire;
  bool wire_ended = false;
  WatchedFd err;
  std::string words;        // stderr of ssh, including that of the other side
  std::string why;          // the reason of the end, if known
  bool broken_off = false;  // by this side
  Timer patience;
  Timer lease_end;
  std::optional<HostLease> lease;
  ClockOffset clock;
  AgentHeartbeat answered;  // the latest
  std::uint64_t answered_at = 0;
  std::uint64_t clock_told_at = 0;
  std::optional<AgentEmpty> empty;
  Receiver receiver;
};

SshChannel::SshChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
                       const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms)
    : connection_(
          std::make_shared<Connection>(io, std::move(launcher), std::move(gate), host, std::move(argv), lease_ms)) {
  connection_->Enter();
}

SshChannel::~SshChannel() { connection_->Close(); }

void SshChannel::Send(const AgentCommand& command) { connection_->Send(command); }

void SshChannel::BreakOff(const std::string& why) { connection_->BreakOff(why); }

void SshChannel::SetReceiver(Receiver receiver) { connection_->receiver = std::move(receiver); }

}  // namespace muster
