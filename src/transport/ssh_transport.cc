#include "transport/ssh_transport.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "spawn/start/watched_child.h"
#include "transport/local_transport.h"
#include "transport/remote_agent.h"

namespace muster {
namespace {

// ssh uses the first value of an option that is given twice, so these override any configuration.
constexpr std::array<std::string_view, 13> kOptions = {
    "BatchMode=yes",              // no user can answer prompts
    "StrictHostKeyChecking=yes",  // nor compare fingerprints
    "ClearAllForwardings=yes",    // of ports; the options below forbid other kinds
    "ForwardAgent=no",
    "ForwardX11=no",
    "Tunnel=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "RemoteCommand=none",  // it would replace the command of RemoteCommand()
    "EscapeChar=none",
    "ControlMaster=no",  // an existing master is used; one that this ssh opened would outlive muster
    "ConnectionAttempts=1",
    "LogLevel=INFO",  // reasons of failures are read from stderr
};

// $1 is the path of the agent, $2 its architecture, $3 the folder of agents of others, the rest its arguments. The
// user's login shell must only support exec and quotes.
constexpr std::string_view kMachineLine = "muster-machine: ";  // on stderr, only if the host has another architecture
constexpr std::string_view kMachine = R"sh(a=$1 o=$2 d=$3; shift 3; m=$(uname -m 2>/dev/null || echo "$o"); )sh"
                                      R"sh([ "$m" = "$o" ] || echo "muster-machine: $m" >&2; )sh";
constexpr std::string_view kGiven = R"sh(exec "$a" --stdio "$@")sh";
// Of another architecture: an installation on the host itself may have the usual path. A shell would take an agent that
// the kernel refuses for a script, so its machine (bytes 18 and 19 of ELF) has to be that of od.
constexpr std::string_view kLookedFor =
    R"sh(if [ "$m" = "$o" ]; then [ -x "$a" ] || a=$(command -v muster-agent); )sh"
    R"sh(elif [ -x "$d/$m/muster-agent" ]; then a=$d/$m/muster-agent; )sh"
    R"sh(else e() { od -An -tx1 -j18 -N2 "$1" 2>/dev/null; }; for b in "$a" "$(command -v muster-agent)"; do )sh"
    R"sh(a=; [ -x "$b" ] && [ "$(e "$b")" = "$(e /proc/self/exe)" ] && a=$b && break; done; fi; )sh"
    R"sh([ -n "$a" ] || { echo "muster-agent: not found" >&2; exit 127; }; exec "$a" --stdio "$@")sh";

std::string MachineOf(const SshSettings& settings) {
  return settings.machine.empty() ? OwnMachine() : settings.machine;
}

Result<std::vector<std::string>> Begin(const SshSettings& settings, std::string_view host) {
  if (!IsHostName(host)) {
    return Fail(MachineError("hosts", Quoted(host) + " is not a host name"));
  }
  std::vector<std::string> words = {settings.program};
  if (!settings.config.empty()) words.insert(words.end(), {"-F", settings.config});
  return words;
}

}  // namespace

SshSettings SshSettingsFrom(const std::vector<std::string>& environment) {
  SshSettings settings;
  for (const std::string_view variable : environment) {
    const auto take = [variable](std::string_view begin, std::string& to) {
      if (variable.starts_with(begin) && variable.size() > begin.size()) to = variable.substr(begin.size());
    };
    take("MUSTER_SSH=", settings.program);
    take("MUSTER_SSH_CONFIG=", settings.config);
  }
  return settings;
}

std::string RemoteCommand(const SshSettings& settings) {
  std::string script(kMachine);
  script += settings.agent_given ? kGiven : kLookedFor;
  std::string command = "exec /bin/sh -c " + ShellQuoted(script) + " sh";
  for (const std::string& word : {settings.agent, MachineOf(settings), settings.foreign_agents}) {
    command += " " + ShellQuoted(word);
  }
  for (const std::string& word : settings.agent_words) command += " " + ShellQuoted(word);
  return command;
}

Result<std::vector<std::string>> SshArguments(const SshSettings& settings, std::string_view host) {
  Result<std::vector<std::string>> words = Begin(settings, host);
  if (!words) return words;
  words->insert(words->end(), {"-T", "-a", "-x"});
  for (const std::string_view option : kOptions) words->insert(words->end(), {"-o", std::string(option)});
  words->insert(words->end(), {"-o", "ConnectTimeout=" + std::to_string(settings.connect_seconds), "--",
                               std::string(host), RemoteCommand(settings)});
  return words;
}

Result<std::vector<std::string>> SshQuestion(const SshSettings& settings, std::string_view host) {
  Result<std::vector<std::string>> words = Begin(settings, host);
  if (words) words->insert(words->end(), {"-G", "--", std::string(host)});
  return words;
}

bool GoesThroughJumpHost(std::string_view answer) {
  for (std::size_t begin = 0; begin < answer.size();) {
    const std::size_t end = std::min(answer.find('\n', begin), answer.size());
    const std::string_view line = answer.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view word : {"proxyjump ", "proxycommand "}) {
      if (line.starts_with(word) && line.substr(word.size()) != "none") return true;
    }
  }
  return false;
}

namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr std::size_t kMaxLine = 300;

struct Known {
  std::string_view words;  // text to be found in a line
  SshFailureKind kind;
};

// The first entry that occurs in any line is used, so the most specific entries come first.
constexpr std::array kKnown = {
    Known{"REMOTE HOST IDENTIFICATION HAS CHANGED", SshFailureKind::kKeyChanged},
    Known{"Host key verification failed", SshFailureKind::kKeyUnknown},
    Known{"Permission denied", SshFailureKind::kPermission},
    Known{"Too many authentication failures", SshFailureKind::kPermission},
    Known{"Could not resolve hostname", SshFailureKind::kUnresolved},
    Known{"Connection refused", SshFailureKind::kRefused},
    Known{"timed out", SshFailureKind::kTimedOut},
    Known{"No route to host", SshFailureKind::kUnreachable},
    Known{"Network is unreachable", SshFailureKind::kUnreachable},
    Known{"exchange_identification: ", SshFailureKind::kTurnedAway},  // kex_ or, before OpenSSH 8.1, ssh_
    Known{"Not allowed at this time", SshFailureKind::kTurnedAway},   // PerSourcePenalties of OpenSSH 9.8
};

struct FailureText {
  SshFailureKind kind;
  std::string_view phrase;
  std::string_view hint;
};

constexpr std::array kFailureTexts = {
    FailureText{SshFailureKind::kPermission, "permission denied",
                "ssh must log in without prompts: add your key to ssh-agent, and to authorized_keys of the host"},
    FailureText{
        SshFailureKind::kKeyUnknown, "its host key is not known",
        "connect to it once with ssh and compare the fingerprint, or have the administrator add it to known_hosts"},
    FailureText{SshFailureKind::kKeyChanged, "its host key has changed",
                "find out why before you trust it: possible man-in-the-middle; then ssh-keygen -R removes the old key"},
    FailureText{SshFailureKind::kUnresolved, "there is no host of that name",
                "check the name, and HostName in ssh's configuration"},
    FailureText{SshFailureKind::kRefused, "connection refused", "sshd does not run there, or listens at another port"},
    FailureText{SshFailureKind::kTimedOut, "no answer", "the host is off, or a firewall is in between"},
    FailureText{SshFailureKind::kUnreachable, "no route to it", "check the network and the routes to it"},
    FailureText{SshFailureKind::kTurnedAway, "its sshd closed the connection",
                "too many connections at once (MaxStartups of sshd_config), there or at the jump host"},
    FailureText{SshFailureKind::kNoAgent, "there is no muster-agent",
                "install muster there, at the same path or on the PATH of ssh logins, or name the agent: --agent PATH"},
    FailureText{SshFailureKind::kNoExec, "its muster-agent cannot be executed",
                "it is of another architecture, or not executable"},
};

SshFailure FailureOf(SshFailureKind kind) {
  for (const FailureText& text : kFailureTexts) {
    if (text.kind == kind) return {kind, std::string(text.phrase), std::string(text.hint)};
  }
  return {kind, {}, {}};
}

std::string Shortened(std::string_view line) { return Printable(line.substr(0, kMaxLine)); }

}  // namespace

SshFailure ClassifySshFailure(std::optional<int> exit_code, std::string_view words) {
  std::vector<std::string_view> lines = TextLines(words);
  for (std::string_view& line : lines) line = Trimmed(line);
  std::erase(lines, std::string_view());
  if (exit_code == kSshFailed) {
    for (const Known& known : kKnown) {
      const bool said = std::any_of(lines.begin(), lines.end(), [&known](std::string_view line) {
        return line.find(known.words) != std::string_view::npos;
      });
      if (said) return FailureOf(known.kind);
    }
    // "Connection closed by 192.0.2.1 port 22", "Connection reset by …": as the last line, before any other message.
    const bool closed = !lines.empty() && (lines.back().starts_with("Connection closed by ") ||
                                           lines.back().starts_with("Connection reset by "));
    if (closed) return FailureOf(SshFailureKind::kTurnedAway);
    return {
        SshFailureKind::kOther, lines.empty() ? "ssh failed without output" : "ssh: " + Shortened(lines.back()), {}};
  }
  if (!exit_code) return {SshFailureKind::kOther, "ssh was ended by a signal", {}};
  if (exit_code == kNotFound) return FailureOf(SshFailureKind::kNoAgent);
  if (exit_code == kNotExecutable) return FailureOf(SshFailureKind::kNoExec);
  for (const std::string_view line : lines) {
    if (line.starts_with("muster-agent: ")) {
      return {SshFailureKind::kAgentRefused, Shortened(line.substr(line.find(' ') + 1)), {}};
    }
  }
  const std::string code = "the command there ended with exit code " + std::to_string(*exit_code);
  return {SshFailureKind::kOther, lines.empty() ? code : code + ": " + Shortened(lines.back()), {}};
}

SshFailure ClassifySshFailure(const SshSettings& settings, std::optional<int> exit_code, std::string_view words) {
  SshFailure failure = ClassifySshFailure(exit_code, words);
  if (failure.kind != SshFailureKind::kNoAgent && failure.kind != SshFailureKind::kNoExec) return failure;
  for (std::string_view line : TextLines(words)) {
    if (!line.starts_with(kMachineLine)) continue;
    const std::string machine(Trimmed(line.substr(kMachineLine.size())));
    if (!IsMachineName(machine)) continue;
    failure.phrase = "it is " + machine + ", this muster " + MachineOf(settings) + ": " + failure.phrase;
    failure.hint = settings.agent_given ? "--agent PATH names a muster-agent of " + machine + " for all named hosts"
                                        : "install that of " + machine + " there as " +
                                              ShellQuoted(settings.foreign_agents + "/" + machine + "/muster-agent") +
                                              ", or muster on the PATH of ssh logins";
    break;
  }
  return failure;
}

namespace {

// The first pause is half to one and a half of this; each further one is twice as long.
constexpr std::uint64_t kRestNs = 200'000'000;

}  // namespace

std::vector<std::uint32_t> ConnectWindow::Begin(std::uint64_t now_ns) {
  while (!resting_.empty() && resting_.begin()->first <= now_ns) {
    waiting_.push_front(resting_.begin()->second);  // it has waited longest
    resting_.erase(resting_.begin());
  }
  std::vector<std::uint32_t> now;
  while (!waiting_.empty() && begun_.size() < width_) {
    now.push_back(waiting_.front());
    begun_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return now;
}

std::optional<std::uint64_t> ConnectWindow::NextAt() const {
  if (resting_.empty() || begun_.size() >= width_) return std::nullopt;
  return resting_.begin()->first;
}

void ConnectWindow::Done(std::uint32_t connection) {
  std::erase(begun_, connection);
  std::erase(waiting_, connection);
  std::erase_if(resting_, [connection](const auto& resting) { return resting.second == connection; });
  tries_.erase(connection);
}

bool ConnectWindow::TurnedAway(std::uint32_t connection, std::uint64_t now_ns) {
  Narrow();
  const std::uint32_t tries = ++tries_[connection];
  if (tries >= kMaxTries) {
    Done(connection);
    return false;
  }
  std::erase(begun_, connection);
  const std::uint64_t rest = kRestNs << (tries - 1);
  resting_.emplace(now_ns + rest / 2 + random_(rest), connection);
  return true;
}

namespace {

// Limits how many ssh processes connect at a time, with a ConnectWindow.
//
// Uses the loop's time and random numbers. Runs ssh once, for the first host, to find out whether its configuration has
// a jump host.
class SshGate : public std::enable_shared_from_this<SshGate> {
 public:
  // `io` must outlive the gate.
  SshGate(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, SshSettings settings);

  // Calls `begin`, from the loop, when the connection of that number may begin, and for each retry (TurnedAway()).
  void Enter(std::uint32_t connection, const std::string& host, std::function<void()> begin);
  // The connection was established, or has ended.
  void Passed(std::uint32_t connection);
  // Schedules a retry. Returns false if the connection has been tried too often (ConnectWindow::kMaxTries).
  bool TurnedAway(std::uint32_t connection);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Ask(const std::string& host);
  void OnAnswer();
  void StopAsking();  // the answer is not needed any more
  void Pump();
  void PumpSoon();

  boost::asio::io_context& io_;
  std::shared_ptr<Launcher> launcher_;
  SshSettings settings_;
  ConnectWindow window_;
  Timer rest_;
  std::map<std::uint32_t, std::function<void()>> begin_;
  std::shared_ptr<WatchedChild> question_;
  UniqueFd answer_;
  bool asked_ = false;
  bool pumping_ = false;
};

// How long ssh may take to print its configuration ("Match exec" runs commands); after that the answer is not used.
constexpr std::chrono::seconds kAnswerPatience{5};

std::uint64_t Chance(std::uint64_t most) {
  static std::minstd_rand random(std::random_device{}());
  return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
}

SshGate::SshGate(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, SshSettings settings)
    : io_(io),
      launcher_(std::move(launcher)),
      settings_(std::move(settings)),
      window_(Chance),
      rest_(io.get_executor()) {}

void SshGate::Enter(std::uint32_t connection, const std::string& host, std::function<void()> begin) {
  begin_.insert_or_assign(connection, std::move(begin));
  window_.Add(connection);
  if (!asked_) return Ask(host);
  if (!question_) PumpSoon();
}

void SshGate::Passed(std::uint32_t connection) {
  window_.Done(connection);
  begin_.erase(connection);
  if (begin_.empty()) StopAsking();
  PumpSoon();
}

bool SshGate::TurnedAway(std::uint32_t connection) {
  const bool again = window_.TurnedAway(connection, MonotonicNowNs());
  if (!again) begin_.erase(connection);
  PumpSoon();
  return again;
}

void SshGate::Ask(const std::string& host) {
  asked_ = true;
  const Result<std::vector<std::string>> words = SshQuestion(settings_, host);
  answer_.reset(::memfd_create("ssh", MFD_CLOEXEC));
  if (!words || !answer_) return PumpSoon();
  SpawnSpec spec;
  spec.argv = *words;
  spec.env = OwnEnvironment();
  spec.stdout_fd = answer_.get();
  spec.grouping = Grouping::kOwnSession;
  spec.parent_death_signal = SIGTERM;
  auto process = BoostLauncher(*launcher_)(io_.get_executor(), spec);
  if (!process) return PumpSoon();  // the connections will report the reason
  question_ = std::make_shared<WatchedChild>(io_, std::move(*process));
  question_->AwaitEnd([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnAnswer();
  });
  rest_.expires_after(kAnswerPatience);
  rest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->question_) KillChild(self->question_->ref());
  });
}

void SshGate::OnAnswer() {
  question_->Take();
  question_.reset();
  rest_.cancel();
  if (GoesThroughJumpHost(BytesAt(answer_.get(), 0, 64U << 10))) window_.Narrow();
  answer_.reset();
  PumpSoon();
}

void SshGate::StopAsking() {
  if (!question_) return;
  KillChild(question_->ref());
  question_->Take();
  question_.reset();
  rest_.cancel();
  answer_.reset();
  asked_ = false;
}

void SshGate::PumpSoon() {
  if (std::exchange(pumping_, true)) return;
  boost::asio::post(io_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pumping_ = false;
    if (!self->question_) self->Pump();
  });
}

void SshGate::Pump() {
  for (const std::uint32_t connection : window_.Begin(MonotonicNowNs())) {
    const auto found = begin_.find(connection);
    if (found == begin_.end()) continue;
    const std::function<void()> begin = found->second;  // a copy: the callback may call back into this object
    begin();
  }
  rest_.cancel();
  const std::optional<std::uint64_t> next = window_.NextAt();
  if (!next) return;
  rest_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(*next)));
  rest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->Pump();
  });
}

}  // namespace

// The ssh processes. Their command lines are made before, since they may be impossible.
class SshTransport::Commands final : public HostCommands {
 public:
  Commands(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, const SshSettings& settings)
      : gate_(std::make_shared<SshGate>(io, std::move(launcher), settings)), settings_(settings) {}

  void Know(std::uint32_t host, std::vector<std::string> argv) { argv_[host] = std::move(argv); }

  std::string_view name() const override { return "ssh"; }

  void Enter(const TransportHost& host, Calls calls) override {
    gate_->Enter(host.index, host.name, [begin = std::move(calls.begin), argv = argv_.at(host.index)] { begin(argv); });
  }

  void Passed(std::uint32_t host) override { gate_->Passed(host); }

  void Left(std::uint32_t host) override {
    gate_->Passed(host);
    argv_.erase(host);
  }

  CommandFailure FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) override {
    SshFailure failure = ClassifySshFailure(settings_, end.signalled ? std::nullopt : std::optional(end.code), words);
    const bool again = failure.kind == SshFailureKind::kTurnedAway && gate_->TurnedAway(host);
    return {std::move(failure.phrase), std::move(failure.hint), again};
  }

  std::chrono::seconds GreetingPatience() const override { return std::chrono::seconds(settings_.greeting_seconds); }

  std::string SilenceHint() const override {
    return "a start-up file of the login that waits, reads its input or starts another shell keeps an agent from "
           "starting; `ssh HOST true` shows whether the login ends";
  }

  std::optional<std::string> OwnFailure(const EndedProcess& end, const std::string& words) const override {
    if (end.signalled) return "ssh " + EndText(end);
    if (end.code != kSshFailed) return std::nullopt;
    return ClassifySshFailure(end.code, words).phrase;
  }

 private:
  const std::shared_ptr<SshGate> gate_;
  const SshSettings settings_;
  std::map<std::uint32_t, std::vector<std::string>> argv_;  // by host
};

SshTransport::SshTransport(SshSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {
  if (settings_.agent.empty()) settings_.agent = AgentBeside();
  if (settings_.foreign_agents.empty()) settings_.foreign_agents = ForeignAgentsFolder();
}

Result<std::unique_ptr<UncheckedChannel>> SshTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  Result<std::vector<std::string>> argv = SshArguments(settings_, host.name);
  if (!argv) return Fail(std::move(argv.error()));
  std::shared_ptr<Commands> commands = commands_.lock();
  if (!commands) commands_ = commands = std::make_shared<Commands>(io, launcher_, settings_);
  commands->Know(host.index, std::move(*argv));
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<CommandCarrier>(io, *agent, launcher_, std::move(commands), host));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
