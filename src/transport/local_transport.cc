#include "transport/local_transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/own_environment.h"
#include "base/system/own_process.h"
#include "base/values/overloaded.h"
#include "base/values/text_parts.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/reap.h"
#include "spawn/start/spawn_spec.h"
#include "spawn/start/watched_child.h"
#include "transport/agent_heartbeats.h"
#include "wire/connection/wire.h"

namespace muster {

// The head's end of a connection to a local agent, and the supervision of the agent process.
//
// Depends on the wire protocol and the pidfd of the agent, or of its guard. Delivers AgentEmpty only once the agent has
// been reaped, and AgentLost only once no process of the agent is left.

// The processes and descriptors of a started agent.
struct LocalAgent {
  LaunchedProcess process;  // the agent's guard, which exits as the agent did, or the agent itself if it has none
  UniqueFd kill_count;      // where the guard writes how many processes it killed; invalid without a guard
};

class LocalChannel final : public UncheckedChannel {
 public:
  // An agent that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kAgentPatience{10};

  // `spared`: see LocalTransport. The agent's process must be in it.
  LocalChannel(boost::asio::io_context& io, std::uint32_t host, LocalAgent agent, std::shared_ptr<Wire> wire,
               std::shared_ptr<std::vector<ProcessIdentity>> spared, std::uint64_t lease_ms);

  // If the agent is still running, closes the connection, waits until the agent has killed its processes and exited
  // (not if its answer is overdue), and kills the processes that it left.
  ~LocalChannel() override;

  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void BreakOff(const std::string& why) override;
  void ExpectAnswer(bool at_once) override;

 private:
  struct Connection;
  std::shared_ptr<Connection> connection_;
};

// Outlives the channel as long as handlers of the loop refer to it; after Close() they do nothing.
struct LocalChannel::Connection : std::enable_shared_from_this<Connection> {
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  Connection(boost::asio::io_context& io, std::uint32_t host_index, LocalAgent local, std::shared_ptr<Wire> w,
             std::shared_ptr<std::vector<ProcessIdentity>> others)
      : host(host_index),
        agent(std::move(local.process)),
        kill_count(std::move(local.kill_count)),
        wire(std::move(w)),
        spared(std::move(others)),
        patience(io.get_executor()),
        children(io) {}

  void Start(boost::asio::io_context& io, std::uint64_t lease_ms) {
    const std::weak_ptr<Connection> weak = weak_from_this();
    wire->Start(
        [weak](const std::string& payload) {
          if (const auto self = weak.lock()) self->OnFrame(payload);
        },
        [weak](const std::string& reason) {
          if (const auto self = weak.lock()) self->OnWireEnd(reason);
        });
    answers = std::make_shared<AnswerTimeout>(
        io, lease_ms,
        AnswerTimeout::Ends{
            .ask = [this](std::uint32_t number) { wire->Send(EncodeFrame(AgentCommand(HeadHeartbeat{number}))); },
            .unanswered =
                [weak](const std::string& what) {
                  const auto self = weak.lock();
                  if (!self || self->closed) return;
                  self->why = what;
                  self->KillAgent();
                }});
    AwaitAgentEnd();
  }

  void AwaitAgentEnd() {
    auto ended = [self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && !self->closed && !self->agent_end) self->OnAgentEnd();
    };
    if (agent.watched()) return agent.AwaitEnd(std::move(ended));
    // SIGCHLD may be for another child, and may have arrived before this wait.
    boost::system::error_code ignored;
    children.add(SIGCHLD, ignored);
    children.async_wait([ended](const boost::system::error_code& error, int) { ended(error); });
    if (!HasEnded(agent.ref())) return;
    children.cancel(ignored);
    boost::asio::post(patience.get_executor(), [ended] { ended({}); });
  }

  void OnFrame(const std::string& payload) {
    auto message = DecodeMessage(payload);
    if (message && std::holds_alternative<AgentReady>(*message)) cgroup = std::get<AgentReady>(*message).cgroup;
    if (!message || FailsHere(Fault::kHeadMessage)) return BreakOff("it sent a message that cannot be read");
    if (auto* last = std::get_if<AgentEmpty>(&*message)) {
      empty = std::move(*last);
      return OnWireEnd({});
    }
    if (const auto* failed = std::get_if<AgentFailed>(&*message)) why = failed->why;
    // The agent was given no lease, as its exit is seen: its heartbeats are answers.
    std::visit(Overloaded{[this](AgentHeartbeat& heartbeat) { answers->Answered(heartbeat.number); },
                          [this](auto& held) { Notify(std::move(held)); }},
               *message);
  }

  void BreakOff(const std::string& reason) {
    KillAgent();
    OnWireEnd(reason);
  }

  void OnWireEnd(const std::string& reason) {
    if (closed || wire_ended) return;
    wire_ended = true;
    wire->Close();
    answers->Stop();
    if (why.empty()) why = reason;
    if (agent_end) return Conclude();
    patience.expires_after(kAgentPatience);
    patience.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && !self->closed) self->KillAgent();
    });
  }

  void OnAgentEnd() {
    if (!HasEnded(agent.ref())) return AwaitAgentEnd();
    ReapAgent();
    if (wire_ended || killed) return Conclude();
    // The agent's last messages may still be on their way; an agent whose guard was killed ends everything before it
    // exits.
    patience.expires_after(kAgentPatience);
    patience.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && !self->closed) self->Conclude();
    });
  }

  void KillAgent() {
    if (agent_end) return;
    killed = true;
    KillChild(agent.ref());
  }

  void ReapAgent() {
    const pid_t pid = agent.pid();
    agent_end = Reap(agent.ref()).value_or(EndedProcess{});
    agent.Detach();
    boost::system::error_code ignored;
    children.cancel(ignored);
    std::erase_if(*spared, [pid](const ProcessIdentity& process) { return process.pid == pid; });
  }

  // Orphans of the agent are children of this process by now, in a session other than this process's, since the agent
  // started its own. Children in the head's session were started by the head itself.
  KillReport EndWhatItLeft() const {
    const pid_t session = ::getsid(0);
    KillReport report = KillChildrenBut([&](pid_t pid) {
      if (SessionOf(pid) == session) return true;
      const auto identity = Identify(pid);
      return identity && std::find(spared->begin(), spared->end(), *identity) != spared->end();
    });
    if (kill_count) report.killed += ReadKilledCount(kill_count.get());
    return report;
  }

  void Conclude() {
    closed = true;
    patience.cancel();
    answers->Stop();
    wire->Close();
    if (empty && !killed) return Notify(std::move(*empty));
    const KillReport report = EndWhatItLeft();
    if (empty) return Notify(std::move(*empty));  // only the agent, which did not exit, was left
    if (!cgroup.empty()) RemoveCgroup(cgroup);
    AgentLost lost;
    lost.host = host;
    lost.why = "the agent " + EndText(*agent_end) + (why.empty() ? "" : ": " + why);
    if (!report.left.empty()) lost.why += "; " + std::to_string(report.left.size()) + " processes cannot be ended";
    lost.killed = report.killed;
    Notify(std::move(lost));
  }

  void Notify(ChannelMessage message) {
    const Receiver to = receiver;  // a copy: the receiver may destroy the channel
    if (to) to(std::move(message));
  }

  bool AgentEndsWithin(std::chrono::nanoseconds time) {
    return EndsBy(agent.ref(), MonotonicNowNs() + static_cast<std::uint64_t>(time.count()));
  }

  // The channel is destroyed: no further messages.
  void Close() {
    receiver = nullptr;
    closed = true;
    patience.cancel();
    const bool owes_answer = answers->unanswered();
    answers->Stop();
    wire->Close();
    if (agent_end) return;
    if (owes_answer || !AgentEndsWithin(kAgentPatience)) {
      KillAgent();
      AgentEndsWithin(std::chrono::seconds(1));
    }
    ReapAgent();
    EndWhatItLeft();
    if (!cgroup.empty()) RemoveCgroup(cgroup);
  }

  const std::uint32_t host;
  LaunchedProcess agent;  // or of its guard
  UniqueFd kill_count;
  std::shared_ptr<Wire> wire;
  std::shared_ptr<std::vector<ProcessIdentity>> spared;
  Timer patience;
  std::shared_ptr<AnswerTimeout> answers;
  boost::asio::signal_set children;  // SIGCHLD, for kernels without pidfds
  Receiver receiver;
  std::optional<AgentEmpty> empty;
  std::string why;
  std::string cgroup;  // the agent's cgroup; removed here if the agent could not do so
  bool wire_ended = false;
  bool killed = false;  // by this process
  std::optional<EndedProcess> agent_end;
  bool closed = false;
};

LocalChannel::LocalChannel(boost::asio::io_context& io, std::uint32_t host, LocalAgent agent,
                           std::shared_ptr<Wire> wire, std::shared_ptr<std::vector<ProcessIdentity>> spared,
                           std::uint64_t lease_ms)
    : connection_(std::make_shared<Connection>(io, host, std::move(agent), std::move(wire), std::move(spared))) {
  connection_->Start(io, lease_ms);
}

LocalChannel::~LocalChannel() { connection_->Close(); }

void LocalChannel::Send(const AgentCommand& command) { connection_->wire->Send(EncodeFrame(command)); }

void LocalChannel::BreakOff(const std::string& why) { connection_->BreakOff(why); }

void LocalChannel::SetReceiver(Receiver receiver) { connection_->receiver = std::move(receiver); }

void LocalChannel::ExpectAnswer(bool at_once) { connection_->answers->Expect(at_once); }

namespace {

constexpr int kAgentFd = 3;
constexpr int kGuardFd = 4;

}  // namespace

std::string AgentBeside() { return BesideOwnProgram("muster-agent"); }

std::string OwnMachine() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

std::string ForeignAgentsFolder() {
  const std::filesystem::path program = BesideOwnProgram("muster");
  return (program.parent_path().parent_path() / "libexec/muster").string();
}

std::vector<std::string> ForeignAgents() {
  std::vector<std::string> machines;
  std::error_code error;
  for (std::filesystem::directory_iterator it(ForeignAgentsFolder(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (IsMachineName(name) && ::access((it->path() / "muster-agent").c_str(), X_OK) == 0) machines.push_back(name);
  }
  std::sort(machines.begin(), machines.end());
  return machines;
}

bool IsMachineName(std::string_view text) {
  constexpr std::size_t kMaxName = 32;
  return !text.empty() && text.size() <= kMaxName &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetterOrDigit(c) || c == '_'; });
}

LocalTransport::LocalTransport(std::string agent_program, const Without& without, std::vector<std::string> faults,
                               Isolation isolation, std::uint64_t lease_ms)
    : agent_program_(agent_program.empty() ? AgentBeside() : std::move(agent_program)),
      without_(without),
      faults_(std::move(faults)),
      isolation_(isolation),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))),
      spared_(std::make_shared<std::vector<ProcessIdentity>>()) {
  ::getrlimit(RLIMIT_NOFILE, &descriptors_);
}

Result<std::unique_ptr<UncheckedChannel>> LocalTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  if (!BecomeSubreaper()) return Fail(SystemError("spawn", "cannot adopt processes that an agent may leave", errno));
  for (const pid_t pid : ChildrenNow()) {
    const auto identity = Identify(pid);
    if (identity && std::find(spared_->begin(), spared_->end(), *identity) == spared_->end()) {
      spared_->push_back(*identity);
    }
  }

  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Fail(SystemError("spawn", "no connection for the agent", errno));
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  // In a namespace the agent is guarded by the kernel, and by the process that created the namespace.
  const bool guarded = isolation_ == Isolation::kNone && !without_.Has(Mechanism::kGuard);
  if (guarded && ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(SystemError("spawn", "no pipe for the agent's guard", errno));
  }
  UniqueFd kill_count(guarded ? ends[0] : -1);
  const UniqueFd guard(guarded ? ends[1] : -1);

  SpawnSpec spec;
  spec.argv = {agent_program_, "--fd", std::to_string(kAgentFd)};
  if (isolation_ != Isolation::kNone) {
    spec.argv.insert(spec.argv.end(), {"--isolate", std::string(IsolationName(isolation_))});
  }
  if (guarded) spec.argv.insert(spec.argv.end(), {"--guard", std::to_string(kGuardFd)});
  if (!without_.empty()) spec.argv.insert(spec.argv.end(), {"--without", WithoutText(without_)});
  for (const std::string& fault : faults_) spec.argv.insert(spec.argv.end(), {"--fault", fault});
  spec.env = OwnEnvironment();
  spec.stderr_fd = STDERR_FILENO;
  spec.passed = {{theirs.get(), kAgentFd}};
  if (guarded) spec.passed.push_back({guard.get(), kGuardFd});
  spec.limits = {{RLIMIT_NOFILE, descriptors_}, {RLIMIT_CPU, CallersProcessorLimit()}};
  spec.grouping = Grouping::kOwnSession;
  spec.parent_death_signal = kGuardDeathSignal;
  auto agent = BoostLauncher(*launcher_)(io.get_executor(), spec);
  if (!agent) {
    return Fail(MachineError("spawn", "the agent cannot be started: " + SpawnErrorText(agent.error()),
                             "install muster-agent in the folder of muster itself"));
  }

  auto wire = Wire::Make(io, std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
  if (!wire) return Fail(MachineError("spawn", "the connection to the agent: " + wire.error()));
  if (const auto identity = Identify(agent->pid())) spared_->push_back(*identity);
  return std::make_unique<LocalChannel>(io, host.index, LocalAgent{std::move(*agent), std::move(kill_count)},
                                        std::move(*wire), spared_, lease_ms_);
}

}  // namespace muster
