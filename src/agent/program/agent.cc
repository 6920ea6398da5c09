#include "agent/program/agent.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/devices/host_cores.h"
#include "agent/logs/log_collapse.h"
#include "agent/processes/environment_block.h"
#include "agent/processes/log_files.h"
#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/host_name.h"
#include "base/values/shell_quote.h"
#include "spawn/leftovers/descendants.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

// Of the connection that sshd made for this agent: "client port server port"; empty without one.
std::string AddressReachedBy() {
  const char* connection = std::getenv("SSH_CONNECTION");
  std::istringstream words(connection == nullptr ? "" : connection);
  std::string client;
  std::string port;
  std::string server;
  words >> client >> port >> server;
  return IsAddress(server) ? server : std::string();
}

// Letters, digits and hyphens: fit for a name of ours in the file system.
bool IsWord(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

}  // namespace

Agent::Agent(boost::asio::io_context& io, std::shared_ptr<Wire> wire, AgentProcess& process,
             std::optional<PidNamespace> space)
    : io_(io),
      wire_(std::move(wire)),
      process_(process),
      launcher_(process.launcher),
      space_(std::move(space)),
      children_(io, launcher_,
                {.exited = [this](const ProcessExited& event) { OnExited(event); },
                 .signalled =
                     [this](const SignalSent& event) {
                       witness_.Signalled(event);
                       Send(event);
                     }}),
      probes_(io, launcher_,
              {.exited = [this](const ProcessExited& event) { OnProbeExited(event); },
               .signalled = [](const SignalSent&) {}}),
      ready_(io, {.ready =
                      [this](const ReadyWatch::Key& key) {
                        probe_starts_.erase(key);
                        Send(ProcessReady{key.first, key.second, MonotonicNowNs()});
                      },
                  .probe = [this](const ReadyWatch::Key& key) { StartProbe(key); },
                  .listens =
                      [this](const ReadyWatch::Key& key, std::uint16_t port) {
                        std::optional<PortTaken> taken;
                        const bool ours = ports_.IsOurs(key, port, taken);
                        if (taken) Send(*taken);
                        return ours;
                      }}),
      dumps_(io, launcher_,
             {.told = [this](const ProcessDumped& told) { OnDumped(told); },
              .done =
                  [this](HostDumped done) {
                    done.host = host_;
                    Send(done);
                  },
              .idle =
                  [this] {
                    if (finishing_) FinishIfEmpty();
                  }}),
      activation_(io, launcher_,
                  [this](HostActivated told) {
                    if (finishing_) return FinishIfEmpty();
                    told.host = host_;
                    Send(told);
                  }),
      inspection_(io, launcher_, process.program,
                  {.done =
                       [this](const Inspected& told) {
                         if (!finishing_) Send(told);
                       },
                   .idle =
                       [this] {
                         if (finishing_) FinishIfEmpty();
                       }}),
      log_times_(
          io,
          [this](const LogTimes::Key& key) {
            Send(FirstOutput{key.first, key.second, MonotonicNowNs()});
          },
          [this](const LogTimes::Key& key) {
            const auto running = running_.find(key);
            if (!logs_collapse_ || finishing_ || over_ || running == running_.end()) return;
            log_trims_.TooLong(key, running->second.log);
          }),
      log_pipes_(io,
                 [this](const LogPipes::Key& key) {
                   log_times_.Replaced(key);
                   ready_.Replaced(key);
                 }),
      log_trims_(io, launcher_, process.program,
                 [this] {
                   if (finishing_) FinishIfEmpty();
                 }),
      ptys_(io, [this](const AgentMessage& message) { Send(message); }),
      witness_(process.memory_kills),
      signals_(io.get_executor()),
      patience_(io.get_executor()),
      beats_(io, {.send = [this](const AgentBeat& beat) { wire_->SendUrgent(EncodeFrame(AgentMessage(beat))); },
                  .unheard =
                      [this](const std::string& why) {
                        const AgentMessage last = AgentFailed{why};  // a head that hears after all is told
                        EndAtOnce(kAgentLostHead, &last);
                      }}),
      folder_(io, run_folder_,
              {.send = [this](const FileBytes& bytes) { Send(bytes); },
               .when_sent = [this](std::function<void()> done) { wire_->WhenWritten(std::move(done)); }}),
      paths_(io),
      code_(io, CodeCacheFolder(), [this](const AgentMessage& message) { Send(message); }),
      subs_(io, wire_, {process.child_descriptors, process.program, process.without},
            {.send = [this](const AgentMessage& message) { Send(message); },
             .end_leftovers = [this] { return EndOrphans(); },
             .idle =
                 [this] {
                   if (finishing_) FinishIfEmpty();
                 }}),
      ports_(space_ ? GivenPorts(space_->OwnPid(), space_->proc()) : GivenPorts()),
      allotment_(io, {.given = [this](const Allotted& given) { Send(given); },
                      .awaited =
                          [this](DevicesAwaited awaited) {
                            awaited.host = host_;
                            Send(awaited);
                          }}),
      leftovers_(io.get_executor()) {
  process.memory_kills.CountFromNow();
}

int Agent::Refuse(const std::string& why) {
  refusal_ = why;
  return Run();
}

Agent::~Agent() { wire_->Close(); }

int Agent::Run() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  UniqueFd signals(::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC));
  boost::system::error_code error;
  if (signals) signals_.assign(signals.get(), error);
  if (!signals || error) return kAgentFailed;
  signals.release();

  if (!below_) wire_->Send(std::string(kMagic));
  WatchSignals();
  wire_->Start([this](const std::string& payload) { OnFrame(payload); },
               [this](const std::string& why) {
                 if (why.empty()) return EndAtOnce(kAgentLostHead, nullptr);
                 Fail("the connection is broken: " + why);
               },
               IsHeadBeat);
  io_.run();
  return exit_code_;
}

void Agent::Send(const AgentMessage& message) { wire_->Send(EncodeFrame(message)); }

// --- commands --------------------------------------------------------------------------------------

void Agent::OnFrame(const std::string& payload) {
  auto command = DecodeCommand(payload);
  if (!command) return Fail("a command that cannot be read");
  if (FailsHere(Fault::kAgentCommand)) return Fail("a fault hook refused a command");
  const bool hello = std::holds_alternative<Hello>(*command);
  if (!refusal_.empty()) return Fail(refusal_);
  if (hello == greeted_) return Fail(hello ? "greeted twice" : "a command before the greeting");
  std::visit([this](auto& held) { Do(held); }, *command);
}

SelfCount Agent::Count() const { return below_ ? SelfCount{*below_, 0} : CountSelf(); }

void Agent::Do(Hello& command) {
  if (command.version != kProtocolVersion) {
    return Fail(fmt::format("the head speaks version {} of the protocol, this agent version {}", command.version,
                            kProtocolVersion));
  }
  greeted_ = true;
  host_ = command.host;
  if (!command.run_dir.empty()) {
    const std::string error = command.elsewhere ? folder_.Open(command.run_dir, command.run_id)
                                                : run_folder_.Open(command.run_dir, RunFolder::Owner::kSelf);
    if (!error.empty()) return Fail(error);
  }
  AgentReady ready;
  ready.address = AddressReachedBy();
  ready.shares_run_dir = !folder_.made();
  ready.pid = space_ ? space_->OwnPid() : ::getpid();
  ready.start_ticks = OwnStartTicks();
  ready.host_name = AsHostName(OwnHostName());
  ready.mechanisms = MechanismNames(launcher_.mechanisms());
  ready.mechanisms.emplace_back("subreaper");
  if (guard_) ready.mechanisms.emplace_back("guard");
  guard_.KnowLease(command.lease_ms);
  if (space_) {
    ready.mechanisms.emplace_back("pid-namespace");
    means_.insert("pid-namespace");
  }
  if (!process_.without.Has(Mechanism::kCgroup) && IsWord(command.run_id)) {
    auto made = Cgroup::MakeBelowOwn(fmt::format("muster-{}-{}-{}", command.run_id, host_, ready.pid));
    if (made) cgroup_.emplace(*std::move(made));
    if (cgroup_) guard_.KnowCgroup(cgroup_->path());
  }
  const bool enters = cgroup_ && !launcher_.StartIn(cgroup_->Open());
  if (cgroup_) {
    ready.mechanisms.emplace_back(enters ? "cgroup-entered" : "cgroup");
    ready.cgroup = cgroup_->path();
  }
  if (!command.logs.empty()) {
    logs_collapse_ = !process_.without.Has(Mechanism::kCollapse) && CanCollapse(run_folder_.At(command.logs));
    ready.mechanisms.emplace_back(logs_collapse_ ? "collapse-range" : "log-pipe");
  }
  const SelfCount count = Count();
  own_descriptors_ = count.descriptors;
  ready.cores = static_cast<std::uint32_t>(OwnCores().size());
  ready.descriptors = count.descriptors;
  ready.memory_kib = count.memory_kib;
  ready.at = MonotonicNowNs();
  Send(ready);
  if (command.lease_ms > 0) beats_.Begin(command.lease_ms);
  // Entering waits for the kernel: meanwhile the head can do its part.
  if (!enters) return;
  wire_->WhenWritten([this] {
    if (cgroup_ && !cgroup_->Enter()) cgroup_.reset();
  });
}

void Agent::Do(DefineEnvironment& command) {
  for (const std::string& variable : command.variables) {
    if (!IsVariable(variable)) return Fail("no environment variable: " + Quoted(variable));
  }
  environments_.insert_or_assign(command.block, ByName(std::move(command.variables)));
}

void Agent::Do(Activate& command) {
  if (finishing_) return Fail("an activation after the finish");
  if (started_ > 0 || activation_.begun()) return Fail("an activation that is not the first thing done");
  for (const std::string& variable : command.environment) {
    if (!IsVariable(variable)) return Fail("no environment variable: " + Quoted(variable));
  }
  folder_.Expect(command.log_path);
  activation_.Begin(command, run_folder_.At(command.log_path), {RLIMIT_NOFILE, process_.child_descriptors});
}

void Agent::Do(Inspect& command) {
  if (finishing_) return Fail("an inspection after the finish");
  if (inspection_.going()) return Fail("an inspection within another");
  for (const std::string& variable : command.environment) {
    if (!IsVariable(variable)) return Fail("no environment variable: " + Quoted(variable));
  }
  inspection_.Begin(std::move(command), {RLIMIT_NOFILE, process_.child_descriptors});
}

void Agent::Do(HoldPorts& command) { Send(ports_.Hold(std::move(command))); }

void Agent::Do(Allot& command) {
  if (allotted_ || started_ > 0) return Fail("asked for devices and cores twice, or after a start");
  allotted_ = true;
  allotment_.Give(command);
}

void Agent::Do(AskOutput& command) {
  static_cast<void>(command);
  OutputSeen seen;
  seen.host = host_;
  for (const auto& [key, running] : running_) {
    const auto end = LogEnd(running.log.directory, running.log.path);
    if (!end) continue;
    seen.processes.push_back(key.first);
    seen.bytes.push_back(*end);
  }
  Send(seen);
}

void Agent::Do(TakeDump& command) {
  std::vector<DumpTaker::Target> targets;
  for (DumpTarget& one : command.processes) {
    const auto found = running_.find({one.process, one.attempt});
    if (found == running_.end()) continue;
    const Running& running = found->second;
    folder_.Expect(one.path);
    const std::string name = running.mark.substr(running.mark.find('=') + 1);
    targets.push_back({found->first, running.pid,
                       fmt::format("dump {} of {}, {}", command.dump, name, UtcText(WallNowNs())),
                       run_folder_.At(one.path), running.log, running.search_path});
  }
  if (space_) outer_pids_ = space_->Pids();
  dumps_.Take(command.dump, std::chrono::milliseconds(command.within_ms), std::move(targets));
}

// Files and tools of a dump have the pids that they see; what the head gets are its own. Whoever came after the dump
// began, and any thread but a main one, is known by 0.
void Agent::OnDumped(ProcessDumped told) {
  const auto translate = [this](std::int32_t& pid) {
    const auto found = outer_pids_.find(pid);
    pid = found == outer_pids_.end() ? 0 : found->second;
  };
  for (SystemProcessState& state : told.states) {
    if (!space_) break;
    const std::int32_t inside = state.pid;
    translate(state.pid);
    translate(state.parent);
    for (ThreadState& thread : state.threads) thread.tid = thread.tid == inside ? state.pid : 0;
  }
  Send(told);
}

void Agent::Do(PtyBytes& typed) {
  if (!ptys_.Typed(typed)) Fail("more was typed than was granted");
}

void Agent::Do(PtyTaken& taken) { ptys_.Taken(taken); }

void Agent::Do(PtyResized& resized) { ptys_.Resized(resized); }

void Agent::Do(PlaceFile& file) {
  if (const std::string error = folder_.Put(file); !error.empty()) Fail(error);
}

void Agent::Do(OpenPaths& command) {
  if (finishing_ || started_ > 0) return Fail("network paths are checked before the first start");
  Send(paths_.Open(command));
}

void Agent::Do(TryPaths& command) {
  if (finishing_ || started_ > 0 || paths_.trying())
    return Fail("network paths are checked only once, before the first start");
  if (command.targets.size() > PathTrial::kMostTargets) return Fail("too many network paths to check");
  paths_.Try(command, [this](const PathsTried& told) { Send(told); });
}

void Agent::Do(ClosePaths& command) {
  static_cast<void>(command);
  paths_.Close();
  Send(PathsOpen{});
}

void Agent::Do(OfferCode& command) {
  if (finishing_ || started_ > 0) return Fail("code is offered before the first start");
  if (const std::string error = code_.Offer(command); !error.empty()) Fail(error);
}

void Agent::Do(CodeBytes& bytes) {
  if (const std::string error = code_.Take(bytes); !error.empty()) Fail(error);
}

void Agent::Do(OpenAgent& command) {
  if (finishing_) return Fail("an agent after the finish");
  if (space_) return Send(AgentGone{command.number, "cannot be below one in a PID namespace", 0});
  if (!subs_.Open(command.number)) Fail(fmt::format("there is an agent {} already", command.number));
}

void Agent::Do(ToAgent& said) { subs_.Pass(said); }

void Agent::Do(CloseAgent& command) { subs_.Close(command.number); }

void Agent::Do(HeadBeat& beat) {
  if (beats_.going()) return beats_.Answered(beat.number);
  if (!over_) Send(AgentBeat{beat.number, MonotonicNowNs(), 0, 0});
}

void Agent::Do(StopProcesses& command) {
  if (command.grace_ms > 0 && (command.signal < 1 || command.signal > SIGRTMAX)) {
    return Fail(fmt::format("{} is no signal", command.signal));
  }
  for (const ProcessAttempt& one : command.processes) {
    dumps_.LetGo({one.process, one.attempt});
    ports_.Stopped({one.process, one.attempt});
    children_.Stop(one.process, one.attempt, command.signal, std::chrono::milliseconds(command.grace_ms));
  }
  if (!command.processes.empty()) means_.insert("process-group");
}

// Not for ever; but who cuts a log waits for a disk, and ends when that does.
void Agent::AwaitEnds() {
  patience_.expires_after(kKillPatience);
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (children_.empty() && probes_.empty() && dumps_.empty() && subs_.empty()) return AwaitEnds();
    Fail(fmt::format("{} processes cannot be ended", children_.size() + subs_.size()));
  });
}

void Agent::Do(Finish& command) {
  static_cast<void>(command);
  if (finishing_) return Fail("finished twice");
  finishing_ = true;
  leftovers_.cancel();
  ports_.Clear();
  if (!children_.empty()) means_.insert("process-group");
  ready_.Clear();
  dumps_.Clear();
  activation_.Kill();
  inspection_.Kill();
  paths_.Close();
  code_.End();
  allotment_.StopWaiting();
  subs_.CloseAll();
  children_.KillAll();
  probes_.KillAll();
  KillCgroupOfProcesses();
  AwaitEnds();
  FinishIfEmpty();
}

}  // namespace muster
