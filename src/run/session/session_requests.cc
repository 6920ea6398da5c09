// The part of the session that hears who asks something of the run: signals, the control socket, the user's terminal.
#include <algorithm>
#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "base/values/diagnostic_text.h"
#include "run/session/session.h"

namespace muster {
namespace {

// A socket is a file that is made and removed, which costs a short run as much as all its other files.
constexpr std::chrono::seconds kUnasked{1};

}  // namespace

Result<void> Session::OpenTerminal() {
  if (!request_.pty) return {};
  Result<UserTerminal> terminal = UserTerminal::Open(request_.terminal);
  if (!terminal) return Fail(std::move(terminal.error()));
  const std::uint32_t host = plan_.processes[*request_.pty].host;
  terminal_.emplace(
      io_, console_, std::move(*terminal),
      TerminalLink::Ends{
          .send = [this, host](const AgentCommand& command) { Send(supervisor_.slots().machine(host), command); },
          .stop =
              [this] {
                console_.StoppingByKeys(stops_asked_ + 1);
                RequestStop(stops_asked_ + 1, SIGINT);
              }});
  return {};
}

void Session::CatchSignals() {
  if (!request_.catch_signals) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    boost::system::error_code ignored;
    if (!IsIgnored(signal)) signals_.add(signal, ignored);
  }
  AwaitSignal();
}

void Session::AwaitSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    RequestStop(stops_asked_ + 1, signal);
    AwaitSignal();
  });
}

void Session::ListenForCommands() {
  if (!request_.terse) return Listen();
  listening_.emplace(io_, kUnasked);
  listening_->async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->ended_) self->Listen();
  });
}

void Session::ListenNow() {
  if (ended_ || control_) return;
  listening_.reset();
  Listen();
}

void Session::Listen() {
  Result<std::unique_ptr<ControlServer>> control =
      ControlServer::Listen(io_, directory_->folder(),
                            {.status =
                                 [this] {
                                   WriteJournal();  // who watches from now on has heard of what was published
                                   return Status();
                                 },
                             .stop = [this](bool now, bool dump) { return CommandedToStop(now, dump); },
                             .dump = [this] { return CommandedToDump(); },
                             .dumping = [this] { return supervisor_.dumping(); },
                             .processes = [this] { return Processes(); }});
  if (!control) return console_.Warn(Sentence(control.error()));
  control_ = std::move(*control);
}

void Session::RequestStop(std::uint32_t times, int signal, bool dump) {
  if (end_waits_) return OnGitState(std::nullopt);
  if (ended_) return console_.Abandon();  // the run is over, only a slow reader is waited for
  stops_asked_ = times;
  console_.Stopping(times, signal != 0);
  Happened(StopRequested{times, signal, dump});
  if (times < 2 || ended_) return;
  for (std::uint32_t host = 0; host < agents_.size(); ++host) ExpectAnswer(host, true);
}

// Two who ask for the same do not ask for more.
bool Session::CommandedToStop(bool now, bool dump) {
  const std::uint32_t times = now ? 2 : 1;
  const bool hurries = !dump && supervisor_.dump_delays_stop();  // it need not wait any longer
  if (!ended_ && stops_asked_ >= times && !hurries) return false;
  const bool changed = !ended_;
  RequestStop(std::max(times, stops_asked_), 0, dump);
  return changed;
}

tl::expected<std::uint32_t, std::string> Session::CommandedToDump() {
  if (ended_ || !supervisor_.CanDump()) {
    return tl::unexpected<std::string>(
        fmt::format("there is no process to look at: the run is {}", PhaseName(supervisor_.phase())));
  }
  if (supervisor_.dumping() == 0) Happened(DumpRequested{});
  return supervisor_.dumping();
}

RunStatus Session::Status() const {
  return {binding_.run_id,
          plan_id_,
          plan_.name,
          ::getpid(),
          std::string(PhaseName(supervisor_.phase())),
          journal_->records(),
          stops_asked_,
          RoleStatuses(plan_, supervisor_),
          waits_};
}

ProcessStatuses Session::Processes() const {
  std::vector<std::string> hosts;
  for (const Agent& agent : agents_) hosts.push_back(agent.host_name);
  const MonotonicNs now = clock_->Monotonic();
  return {(now - began_at_) / 1'000'000, roll_.Statuses(plan_, supervisor_, hosts, now)};
}

void Session::LendTerminal(const Event& event) {
  if (const auto* opened = std::get_if<PtyOpened>(&event)) {
    terminal_->Join({opened->process, opened->attempt});
  } else if (const auto* closed = std::get_if<PtyClosed>(&event)) {
    terminal_->Part({closed->process, closed->attempt});
  } else if (const auto* lost = std::get_if<AgentLost>(&event)) {
    if (supervisor_.slots().host(lost->host) == plan_.processes[*request_.pty].host) terminal_->Part();
  }
}

}  // namespace muster
