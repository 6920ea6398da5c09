#include "agent/program/agent.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/devices/host_cores.h"
#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/host_name.h"

namespace muster {
namespace {

// Whether the text consists of letters, digits and hyphens, so that it is safe in a file name.
bool IsWord(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

}  // namespace

bool Containment::Begin(const Hello& hello, AgentReady& ready) {
  Launcher& launcher = state_.process.launcher;
  ready.mechanisms = MechanismNames(launcher.mechanisms());
  ready.mechanisms.emplace_back("subreaper");
  if (guard_) ready.mechanisms.emplace_back("guard");
  guard_.KnowLease(hello.lease_ms);
  if (state_.space) {
    ready.mechanisms.emplace_back("pid-namespace");
    state_.means.insert("pid-namespace");
  }
  if (!state_.process.without.Has(Mechanism::kCgroup) && IsWord(hello.run_id)) {
    auto made = Cgroup::MakeBelowOwn(fmt::format("muster-{}-{}-{}", hello.run_id, state_.host, ready.pid));
    if (made) cgroup_.emplace(*std::move(made));
    if (cgroup_) guard_.KnowCgroup(cgroup_->path());
  }
  if (!cgroup_) return false;
  const bool enters = !launcher.StartIn(cgroup_->Open());
  ready.mechanisms.emplace_back(enters ? "cgroup-entered" : "cgroup");
  ready.cgroup = cgroup_->path();
  return enters;
}

void Containment::Enter() {
  if (cgroup_ && !cgroup_->Enter()) cgroup_.reset();
}

void Containment::Kill() {
  if (cgroup_ && cgroup_->Kill()) state_.means.insert("cgroup.kill");
}

namespace {

// The first ones are each sent as soon as the previous one is answered, to compare the clocks before any start.
constexpr std::uint32_t kQuick = 3;

}  // namespace

void HeartbeatSender::Begin(std::uint64_t lease_ms) {
  lease_ms_ = lease_ms;
  lease_.emplace(lease_ms, MonotonicNowNs());
  Send();
  AwaitEnd();
}

void HeartbeatSender::Send() {
  if (!lease_) return;
  latest_.at = MonotonicNowNs();
  latest_.number = lease_->NextNumber(latest_.at);
  ends_.send(latest_);
  next_at_ = latest_.at + HeartbeatMs(lease_ms_) * 1'000'000;
  next_.expires_after(std::chrono::milliseconds(HeartbeatMs(lease_ms_)));
  next_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    NoticePause();
    Send();
  });
}

bool HeartbeatSender::NoticePause() {
  const std::uint64_t now = MonotonicNowNs();
  if (!lease_ || now < next_at_ + PauseNs(lease_ms_)) return false;
  next_at_ = now;
  lease_->Resumed(now);
  return true;
}

void HeartbeatSender::Answered(std::uint32_t number) {
  if (!lease_) return;
  lease_->Answered(number);
  latest_.answered = number;
  latest_.answered_at = MonotonicNowNs();
  if (number == latest_.number && number <= kQuick) Send();
}

void HeartbeatSender::AwaitEnd() {
  end_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(lease_->EndsAt())));
  end_.async_wait([this](const boost::system::error_code& error) {
    if (error || !lease_) return;
    if (MonotonicNowNs() < lease_->EndsAt()) return AwaitEnd();
    if (NoticePause()) {
      Send();
      return AwaitEnd();
    }
    // After this process did not run, the answer may already have arrived: first process readable data.
    boost::asio::post(next_.get_executor(), [this] { EndUnlessAnswered(); });
  });
}

void HeartbeatSender::EndUnlessAnswered() {
  if (!lease_) return;
  if (MonotonicNowNs() < lease_->EndsAt()) return AwaitEnd();
  End();
  ends_.unheard(fmt::format("no heartbeat from the head for {} s", static_cast<double>(lease_ms_) * 3 / 4 / 1000));
}

void HeartbeatSender::End() {
  lease_.reset();
  next_.cancel();
  end_.cancel();
}

namespace {

// The server address of the agent's ssh connection ("client port server port"), or what a pod's container says about
// its own; empty without either.
std::string AddressReachedBy() {
  if (const char* own = std::getenv("MUSTER_ADDRESS"); own != nullptr && IsAddress(own)) return own;
  const char* connection = std::getenv("SSH_CONNECTION");
  std::istringstream words(connection == nullptr ? "" : connection);
  std::string client;
  std::string port;
  std::string server;
  words >> client >> port >> server;
  return IsAddress(server) ? server : std::string();
}

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

Agent::Agent(boost::asio::io_context& io, std::shared_ptr<Wire> wire, AgentProcess& process,
             std::optional<PidNamespace> space)
    : wire_(std::move(wire)),
      state_(io, process, std::move(space),
             {.send = [this](const AgentMessage& message) { wire_->Send(EncodeFrame(message)); },
              .emptied =
                  [this] {
                    if (state_.phase == Phase::kFinishing) FinishIfEmpty();
                  },
              .when_sent = [this](std::function<void()> done) { wire_->WhenWritten(std::move(done)); }}),
      heartbeats_(
          io,
          {.send = [this](const AgentHeartbeat& heartbeat) { wire_->SendUrgent(EncodeFrame(AgentMessage(heartbeat))); },
           .unheard =
               [this](const std::string& why) {
                 const AgentMessage last = AgentFailed{why};  // in case the head is still reachable
                 EndAtOnce(kAgentLostHead, &last);
               }}),
      containment_(state_),
      orphans_(state_),
      ports_(state_.space ? GivenPorts(state_.space->OwnPid(), state_.space->proc()) : GivenPorts()),
      terminals_(io, state_.send),
      dumps_(state_),
      usage_(state_),
      preparation_(state_),
      readiness_(state_, ports_),
      logs_(state_, [this](const ProcessLogs::Key& key) { readiness_.Replaced(key); }),
      processes_(state_, {ports_, terminals_, orphans_, dumps_, readiness_, logs_, usage_}),
      subs_(state_, wire_, [this] { return orphans_.EndAll(); }),
      filler_(io),
      signals_(io.get_executor()),
      patience_(io.get_executor()) {
  // The order of finishing: first the tools of dumps, so that none is attached to a process that is being killed.
  state_.parts = {&dumps_, &usage_, &preparation_, &readiness_, &processes_, &logs_, &subs_};
}

Agent::~Agent() { wire_->Close(); }

int Agent::Refuse(const std::string& why) {
  refusal_ = why;
  return Run();
}

int Agent::Run() {
  if (!WatchSignals()) return kAgentFailed;
  if (!below_) wire_->Send(AgentGreeting());
  AwaitSignals();
  wire_->Start([this](const std::string& payload) { OnFrame(payload); },
               [this](const std::string& why) {
                 if (why.empty()) return EndAtOnce(kAgentLostHead, nullptr);
                 Fail("the connection is broken: " + why);
               },
               IsHeadHeartbeat);
  state_.io.run();
  return exit_code_;
}

// --- signals ---------------------------------------------------------------------------------------

bool Agent::WatchSignals() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  UniqueFd signals(::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC));
  boost::system::error_code error;
  if (signals) signals_.assign(signals.get(), error);
  if (!signals || error) return false;
  signals.release();
  return true;
}

void Agent::AwaitSignals() {
  signals_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnSignals();
    if (state_.phase != Phase::kOver) AwaitSignals();
  });
}

void Agent::OnSignals() {
  signalfd_siginfo info = {};
  while (::read(signals_.native_handle(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != static_cast<std::uint32_t>(SIGTERM)) continue;
    if (HeadDecides()) {
      containment_.NoteTermination();
      if (!std::exchange(termination_reported_, true)) state_.send(AgentSignalled{SIGTERM});
    } else {
      // Another process terminates the agent, or its parent has exited (prctl sends the signal then).
      const AgentMessage last =
          AgentFailed{!state_.space && containment_.GuardIsGone() ? "its guard was killed" : "ended by SIGTERM"};
      return EndAtOnce(kAgentLostHead, &last);
    }
  }
  orphans_.ReapSoon();
}

// The signal of an engine reaches the agent by its guard, or directly. A guard that has exited is another reason for it
// (PR_SET_PDEATHSIG); in a PID namespace that cannot be told apart.
bool Agent::HeadDecides() const {
  return reports_termination_ && of_run_ && !state_.space && heartbeats_.going() && !containment_.GuardIsGone();
}

// --- commands --------------------------------------------------------------------------------------

void Agent::OnFrame(const std::string& payload) {
  auto command = DecodeCommand(payload);
  if (!command) return Fail("a command that cannot be read");
  if (FailsHere(Fault::kAgentCommand)) return Fail("a fault hook refused a command");
  const bool hello = std::holds_alternative<Hello>(*command);
  if (!refusal_.empty()) return Fail(refusal_);
  if (hello == greeted_) return Fail(hello ? "greeted twice" : "a command before the greeting");
  Execute(*command);
}

// The table of commands and the parts that execute them.
void Agent::Execute(AgentCommand& command) {
  const auto check = [this](const std::string& why) {
    if (!why.empty()) Fail(why);
  };
  std::visit(
      Overloaded{
          // The agent itself
          [&](const Hello& hello) { check(Do(hello)); },
          [&](const HeadHeartbeat& heartbeat) { Do(heartbeat); },
          [&](const Finish& finish) { check(Do(finish)); },
          [](const KillAgent&) { ::kill(::getpid(), SIGKILL); },
          [&](const FillDisk& fill) { state_.send(filler_.Do(fill, state_.run_folder.path())); },
          // The run directory
          [&](const PlaceFile& file) { check(state_.host_folder.Put(file)); },
          [&](const FilesStored& answer) { check(Do(answer)); },
          // The host, before the first start
          [&](const Activate& activate) { check(preparation_.Do(activate)); },
          [&](Inspect& inspect) { check(preparation_.Do(inspect)); },
          [&](const AllocateResources& allot) { check(preparation_.Do(allot)); },
          [&](const OpenPaths& open) { check(preparation_.Do(open)); },
          [&](const ProbePaths& attempt) { check(preparation_.Do(attempt)); },
          [&](const ClosePaths& close) { check(preparation_.Do(close)); },
          [&](OfferCode& offer) { check(preparation_.Do(offer)); },
          [&](const CodeBytes& bytes) { check(preparation_.Do(bytes)); },
          [&](HoldPorts& hold) { state_.send(ports_.Hold(std::move(hold))); },
          // Processes
          [&](DefineEnvironment& define) { check(processes_.Do(define)); },
          [&](const StartProcess& start) { check(processes_.Do(start)); },
          [&](const StopProcesses& stop) { check(processes_.Do(stop)); },
          [&](const SignalProcess& order) { check(processes_.Do(order)); },
          [&](const RequestOutput& ask) { processes_.Do(ask); },
          [&](const TakeDump& take) { dumps_.Do(take, processes_.table()); },
          [&](const PtyBytes& typed) { check(terminals_.Typed(typed) ? "" : "more was typed than was granted"); },
          [&](const PtyTaken& taken) { terminals_.Taken(taken); },
          [&](const PtyResized& resized) { terminals_.Resized(resized); },
          // Sub-agents
          [&](const OpenAgent& open) { check(subs_.Do(open)); },
          [&](const ToAgent& said) { subs_.Do(said); },
          [&](const CloseAgent& close) { subs_.Do(close); },
      },
      command);
}

std::string Agent::Do(const Hello& command) {
  if (command.version != kProtocolVersion) {
    return fmt::format("the head speaks protocol {}, this agent {} (muster " MUSTER_VERSION
                       "): install the same muster on both hosts",
                       command.version, kProtocolVersion);
  }
  greeted_ = true;
  of_run_ = !command.run_dir.empty();
  state_.host = command.host;
  if (!command.run_dir.empty()) {
    std::string error = command.elsewhere ? state_.host_folder.Open(command.run_dir, command.run_id)
                                          : state_.run_folder.Open(command.run_dir, RunFolder::Owner::kSelf);
    if (!error.empty()) return error;
  }
  AgentReady ready;
  ready.address = address_ ? *address_ : AddressReachedBy();
  ready.shares_run_dir = !state_.host_folder.made();
  ready.pid = state_.space ? state_.space->OwnPid() : ::getpid();
  ready.start_ticks = OwnStartTicks();
  ready.host_name = AsHostName(OwnHostName());
  const bool enters = containment_.Begin(command, ready);
  if (!command.logs.empty()) ready.mechanisms.emplace_back(logs_.Begin(command.logs));
  const SelfCount count = Count();
  state_.own_descriptors = count.descriptors;
  ready.cores = static_cast<std::uint32_t>(OwnCores().size());
  ready.descriptors = count.descriptors;
  ready.memory_kib = count.memory_kib;
  ready.at = MonotonicNowNs();
  state_.send(ready);
  if (command.lease_ms > 0) heartbeats_.Begin(command.lease_ms);
  usage_.Begin(command.usage_ms, command.device_kind);
  // Entering waits for the kernel: the head can do its part in the meantime.
  if (enters) wire_->WhenWritten([this] { containment_.Enter(); });
  return {};
}

void Agent::Do(const HeadHeartbeat& heartbeat) {
  if (heartbeats_.going()) return heartbeats_.Answered(heartbeat.number);
  if (state_.phase != Phase::kOver) state_.send(AgentHeartbeat{heartbeat.number, MonotonicNowNs(), 0, 0});
}

// --- shutdown --------------------------------------------------------------------------------------

std::string Agent::Do(const Finish& command) {
  static_cast<void>(command);
  if (!state_.serving()) return "finished twice";
  state_.phase = Phase::kFinishing;
  orphans_.StopTimer();
  for (AgentPart* part : state_.parts) part->Finish();
  containment_.Kill();
  AwaitEnds();
  FinishIfEmpty();
  return {};
}

// With a time limit, except for a process that cuts a log: it waits for a disk.
void Agent::AwaitEnds() {
  patience_.expires_after(Orphans::kKillPatience);
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (processes_.empty() && readiness_.empty() && dumps_.empty() && usage_.empty() && subs_.empty()) {
      return AwaitEnds();
    }
    Fail(fmt::format("{} processes cannot be ended", processes_.size() + subs_.size()));
  });
}

void Agent::FinishIfEmpty() {
  if (state_.phase == Phase::kOver || sending_files_) return;
  if (!std::all_of(state_.parts.begin(), state_.parts.end(), [](const AgentPart* part) { return part->empty(); }))
    return;
  patience_.cancel();
  const KillReport report = orphans_.EndDescendants();
  logs_.DrainAll();
  containment_.Leave();
  if (state_.host_folder.made() && !std::exchange(files_sent_, true)) {
    sending_files_ = true;
    return state_.host_folder.SendAll([this] { state_.send(FilesSent{}); });
  }
  if (!report.left.empty()) return Fail(fmt::format("{} processes cannot be ended", report.left.size()));

  // The last process has exited, and the next job may begin as soon as the end of this one is reported.
  preparation_.GiveUpDevices();
  if (FailsHere(Fault::kAgentBeforeEmpty)) return Fail("a fault hook kept it from attesting");
  Attest();
}

std::string Agent::Do(const FilesStored& answer) {
  if (!std::exchange(sending_files_, false)) return "files are kept that were not sent";
  files_kept_ = answer.all;
  FinishIfEmpty();
  return {};
}

void Agent::Attest() {
  state_.phase = Phase::kOver;
  heartbeats_.End();
  exit_code_ = kAgentFinished;
  if (state_.adopted > 0) state_.means.insert("subreaper");
  AgentEmpty empty;
  empty.host = state_.host;
  empty.started = state_.started;
  empty.reaped = state_.reaped;
  empty.adopted = state_.adopted;
  empty.by.assign(state_.means.begin(), state_.means.end());
  const SelfCount count = Count();
  empty.descriptors = count.descriptors;
  empty.memory_kib = count.memory_kib;
  state_.send(empty);
  wire_->StopReading();
  containment_.WakeGuard();
  wire_->WhenWritten([this] {
    if (files_kept_) state_.host_folder.Remove();
    state_.io.stop();
  });
}

void Agent::Fail(const std::string& why) {
  const AgentMessage last = AgentFailed{why};
  EndAtOnce(kAgentFailed, &last);
}

void Agent::EndAtOnce(int exit_code, const AgentMessage* last) {
  if (std::exchange(state_.phase, Phase::kOver) == Phase::kOver) return;
  heartbeats_.End();
  exit_code_ = exit_code;
  // Kills all processes, including those of the plan, in one blocking operation: the head that would receive their
  // events is gone or has stopped the run.
  for (AgentPart* part : state_.parts) part->Abandon();
  containment_.Kill();
  orphans_.EndDescendants();
  terminals_.EndAll();
  logs_.DrainAll();
  preparation_.GiveUpDevices();
  logs_.AllEnded();
  containment_.Leave();
  if (state_.started == 0) state_.host_folder.Remove();  // it contains no data that could be missed
  if (last == nullptr) return state_.io.stop();
  state_.send(*last);
  wire_->StopReading();
  wire_->WhenWritten([this] { state_.io.stop(); });
  // Does not wait long for a head that does not read its last message.
  patience_.expires_after(std::chrono::seconds(1));
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (!error) state_.io.stop();
  });
}

}  // namespace muster
