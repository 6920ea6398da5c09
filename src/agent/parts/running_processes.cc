#include "agent/parts/running_processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/abnormal_exit.h"
#include "base/values/quoting.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

// One search for orphans serves all exits within this time, since thousands of processes may exit together.
constexpr std::chrono::milliseconds kMarkedPause{100};
constexpr std::chrono::seconds kMarkedPatience{1};

}  // namespace

AgentPart* Orphans::OwnerOf(pid_t pid) const {
  for (AgentPart* part : state_.parts) {
    if (part->Owns(pid)) return part;
  }
  return nullptr;
}

void Orphans::ReapSoon() {
  if (reap_pending_ || state_.phase == AgentState::Phase::kOver) return;
  reap_pending_ = true;
  boost::asio::post(state_.io, [this] {
    reap_pending_ = false;
    Reap();
  });
}

void Orphans::Reap() {
  while (state_.phase != AgentState::Phase::kOver) {
    siginfo_t info = {};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    // With pidfds, a process of the plan is reaped through its own, which is about to become ready; its exit leads here
    // again.
    if (AgentPart* owner = OwnerOf(info.si_pid)) {
      if (!owner->ChildEnded(info.si_pid)) return;
      continue;
    }
    siginfo_t reaped = {};
    if (::waitid(P_PID, static_cast<id_t>(info.si_pid), &reaped, WEXITED | WNOHANG) != 0) return;
    ++state_.adopted;
  }
}

void Orphans::EndSoon(const std::string& mark) {
  marks_.insert(mark);
  if (!state_.serving() || marks_.size() > 1) return;  // else the timer is already running
  marked_.expires_after(kMarkedPause);
  marked_.async_wait([this](const boost::system::error_code& error) {
    if (!error && state_.serving()) EndMarked();
  });
}

void Orphans::EndMarked() {
  const std::set<std::string> marks = std::exchange(marks_, {});
  marked_.cancel();
  if (marks.empty()) return;
  const auto owned = [this](pid_t pid) { return OwnerOf(pid) != nullptr; };
  Counted(KillMarkedChildren(owned, marks, kMarkedPatience), "leftovers");
}

KillReport Orphans::EndAll() {
  KillReport report =
      Counted(KillChildrenBut([this](pid_t pid) { return OwnerOf(pid) != nullptr; }, kKillPatience), "children");
  FinalCommands::RunNeeded();
  return report;
}

KillReport Orphans::EndDescendants() { return Counted(KillDescendants({}, kKillPatience), "children"); }

KillReport Orphans::Counted(KillReport report, const char* means) {
  state_.adopted += report.reaped;
  if (report.killed > 0) state_.means.insert(means);
  return report;
}

ProcessDumps::ProcessDumps(AgentState& state)
    : state_(state),
      taker_(state.io, state.process.launcher,
             {.reported = [this](const ProcessDumped& dumped) { OnDumped(dumped); },
              .done =
                  [this](HostDumped done) {
                    done.host = state_.host;
                    state_.send(done);
                  },
              .idle = [this] { state_.emptied(); }}) {}

void ProcessDumps::Do(const TakeDump& command, const RunningProcessTable& running) {
  std::vector<DumpTaker::Target> targets;
  for (const DumpTarget& one : command.processes) {
    const auto found = running.find({one.process, one.attempt});
    if (found == running.end()) continue;
    const RunningProcess& process = found->second;
    state_.host_folder.Expect(one.path);
    const std::string name = process.mark.substr(process.mark.find('=') + 1);
    targets.push_back({found->first, process.pid,
                       fmt::format("dump {} of {}, {}", command.dump, name, UtcText(WallNowNs())),
                       state_.run_folder.At(one.path), process.log, process.search_path});
  }
  if (state_.space) outer_pids_ = state_.space->Pids();
  taker_.Take(command.dump, std::chrono::milliseconds(command.within_ms), std::move(targets));
}

// Files and tools of a dump use the pids inside the namespace; the head gets outer pids. A process that was started
// after the dump began, and any thread but a main one, has 0.
void ProcessDumps::OnDumped(ProcessDumped dumped) const {
  const auto translate = [this](std::int32_t& pid) {
    const auto found = outer_pids_.find(pid);
    pid = found == outer_pids_.end() ? 0 : found->second;
  };
  for (SystemProcessState& process : dumped.states) {
    if (!state_.space) break;
    const std::int32_t inside = process.pid;
    translate(process.pid);
    translate(process.parent);
    for (ThreadState& thread : process.threads) thread.tid = thread.tid == inside ? process.pid : 0;
  }
  state_.send(dumped);
}

namespace {

constexpr std::size_t kDescriptorsPerText = 2;  // the text, and the launcher's duplicate of it
constexpr std::size_t kDescriptorsSpare = 16;   // log file, /proc, sockets: open only temporarily

tl::unexpected<SpawnError> Failure(SpawnStage stage, int error, std::string detail) {
  return tl::unexpected<SpawnError>(SpawnError{stage, error, std::move(detail)});
}

}  // namespace

RunningProcesses::RunningProcesses(AgentState& state, const Companions& companions)
    : state_(state),
      with_(companions),
      children_(state.io, state.process.launcher,
                {.exited = [this](const ProcessExited& event) { OnExited(event); },
                 .signalled =
                     [this](const SignalSent& event) {
                       inspector_.Signalled(event);
                       const auto running = table_.find({event.process, event.attempt});
                       if (running != table_.end()) running->second.signalled = true;
                       state_.send(event);
                     }}),
      inspector_(state.process.memory_kills) {
  state.process.memory_kills.CountFromNow();
}

std::string RunningProcesses::Do(DefineEnvironment& command) {
  if (std::string error = VariableError(command.variables); !error.empty()) return error;
  EnvironmentBlock block = ByName(std::move(command.variables));
  AddHostVariables(command.of_host, block);
  environments_.insert_or_assign(command.block, std::move(block));
  return {};
}

// --- starts ----------------------------------------------------------------------------------------

std::string RunningProcesses::Do(const StartProcess& command) {
  if (!state_.serving()) return "a start after the finish";
  // An earlier attempt and all processes that it left must be gone before the next one starts.
  if (command.attempt > 0) with_.orphans.EndMarked();
  const auto block = environments_.find(command.environment);
  if (block == environments_.end()) return fmt::format("environment {} is not defined", command.environment);
  if (std::string error = VariableError(command.env); !error.empty()) return error;
  if (children_.Runs(command.process, command.attempt)) {
    return fmt::format("process {} attempt {} runs already", command.process, command.attempt);
  }
  state_.host_folder.ExpectAttempt(command.log_path);
  if (auto started = Start(command, block->second)) {
    OnStarted(command, block->second, *std::move(started));
  } else {
    OnSpawnFailed(command, started.error());
  }
  return {};
}

tl::expected<ProcessStarted, SpawnError> RunningProcesses::Start(const StartProcess& command,
                                                                 const EnvironmentBlock& block) {
  if (auto enough = CheckDescriptors(command); !enough) return tl::unexpected<SpawnError>(std::move(enough.error()));
  // The process opens its context, its Python side and its files by that path.
  if (state_.run_folder.held() && !state_.run_folder.IsInPlace()) {
    return Failure(
        SpawnStage::kLog, ESTALE,
        fmt::format("the run directory {} was moved, removed or replaced", Quoted(state_.run_folder.path())));
  }

  SpawnSpec spec;
  spec.argv = command.argv;
  spec.search_dirs = command.search_dirs;
  spec.cwd = command.cwd;
  const EnvironmentBlock own = ByName(command.env);
  spec.env = Overlaid(block, own);
  // The agent has raised its own limit; processes get the user's limit.
  spec.limits.push_back({RLIMIT_NOFILE, state_.process.child_descriptors});
  spec.cores = command.cores;

  std::vector<UniqueFd> held_texts;
  for (const PassedText& passed : command.passed) {
    auto text = HoldText(passed.content);
    if (!text) return tl::unexpected<SpawnError>(std::move(text.error()));
    spec.passed.push_back({text->get(), passed.number});
    held_texts.push_back(std::move(*text));
  }

  auto log = with_.logs.Open(command);
  if (!log) return tl::unexpected<SpawnError>(log.error());
  spec.stdout_fd = spec.stderr_fd = log->get();

  // As late as possible, to minimise the time in which another process can take a port.
  with_.ports.Release(command);
  if (FailsHere(Fault::kAgentBeforeClone)) return Failure(SpawnStage::kClone, EAGAIN, "a fault hook");
  const Key key(command.process, command.attempt);
  if (command.pty) {
    const auto terminal = with_.terminals.Open(key, *command.pty, std::move(*log));
    if (!terminal) return tl::unexpected<SpawnError>(terminal.error());
    spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = *terminal;
    spec.controlling_terminal = true;
  }
  // Before the process exists: the command must be known even if this agent is killed right after the start.
  if (!command.remove.empty() && !FinalCommands::Begun(command.remove))
    return Failure(SpawnStage::kClone, ENOSPC, "too many runs on this host have containers to remove");
  auto started = children_.Start(command.process, command.attempt, std::move(spec));
  if (!started) with_.terminals.Drop(key);
  if (!started) FinalCommands::Ended(command.remove);
  return started;
}

std::size_t RunningProcesses::descriptors() const {
  return with_.ports.held() + kDescriptorsPerChild * children_.size() +
         PtySet::kDescriptorsPerPty * with_.terminals.size();
}

tl::expected<void, SpawnError> RunningProcesses::CheckDescriptors(const StartProcess& command) const {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const std::size_t have = limit.rlim_cur;
  std::size_t need = state_.own_descriptors + kDescriptorsPerChild + ProcessLogs::kDescriptorsPerPipe +
                     (command.pty ? PtySet::kDescriptorsPerPty : 0) + kDescriptorsPerText * command.passed.size() +
                     kDescriptorsSpare;
  for (const AgentPart* part : state_.parts) need += part->descriptors();
  if (need <= have) return {};
  return Failure(SpawnStage::kDescriptors, EMFILE,
                 fmt::format("{} descriptors are needed for {} processes, RLIMIT_NOFILE allows {}", need,
                             children_.size() + 1, have));
}

namespace {

// The files that sanitizers in a process with these variables write.
std::vector<std::string> SanitizerLogsOf(const std::function<std::string(const char*)>& variable,
                                         const std::filesystem::path& cwd, pid_t pid) {
  std::vector<std::string> logs;
  for (const char* name : kSanitizerVariables) {
    const std::string setting = variable(name);  // NAME=value
    for (const std::string& path : SanitizerLogPaths(setting.substr(setting.find('=') + 1)))
      logs.push_back(fmt::format("{}.{}", (cwd / path).string(), pid));
  }
  std::sort(logs.begin(), logs.end());
  logs.erase(std::unique(logs.begin(), logs.end()), logs.end());
  return logs;
}

}  // namespace

void RunningProcesses::OnStarted(const StartProcess& command, const EnvironmentBlock& block, ProcessStarted started) {
  const Key key(command.process, command.attempt);
  const ProcessStarted inside = started;
  const pid_t own_pid = started.pid;
  if (state_.space) started.pid = state_.space->PidOf(own_pid);
  ++state_.started;
  state_.send(started);
  with_.ports.Started(started);
  with_.terminals.Began(key);
  const EnvironmentBlock own = ByName(command.env);
  const auto variable = [&](const char* name) {
    const auto found = own.find(name);
    if (found != own.end()) return found->second;
    const auto shared = block.find(name);
    return shared == block.end() ? std::string() : shared->second;
  };
  inspector_.Started(started, command.cwd, command.log_path, SanitizerLogsOf(variable, command.cwd, own_pid));
  const FileBelow log = state_.run_folder.At(command.log_path);
  RunningProcess running{own_pid, command.log_path, log, {}, variable("PATH"), command.remove, false};
  running.mark = variable("MUSTER_PROCESS");
  running.search_path.erase(0, running.search_path.find('=') + 1);
  with_.usage.Started(inside, command.devices, running.search_path);
  table_.insert_or_assign(key, std::move(running));
  with_.logs.Began(key, log, command.log_limit);
  state_.host_folder.Began(command.log_path, command.log_limit > 0);
  with_.readiness.Watch(command, block);
}

void RunningProcesses::OnSpawnFailed(const StartProcess& command, const SpawnError& error) {
  with_.logs.Drop({command.process, command.attempt});
  SpawnFailed failed;
  failed.process = command.process;
  failed.attempt = command.attempt;
  failed.stage = SpawnStageName(error.stage);
  failed.error = error.error;
  failed.detail = error.detail;
  failed.at = MonotonicNowNs();
  state_.send(failed);
}

// --- while they run, and their exits ---------------------------------------------------------------

std::string RunningProcesses::Do(const RequestOutput& command) const {
  static_cast<void>(command);
  OutputSeen seen;
  seen.host = state_.host;
  for (const auto& [key, running] : table_) {
    const auto end = LogEnd(running.log.directory, running.log.path);
    if (!end) continue;
    seen.processes.push_back(key.first);
    seen.bytes.push_back(*end);
  }
  state_.send(seen);
  return {};
}

std::string RunningProcesses::Do(const StopProcesses& command) {
  if (command.grace_ms > 0 && (command.signal < 1 || command.signal > SIGRTMAX)) {
    return fmt::format("{} is not a signal", command.signal);
  }
  for (const ProcessAttempt& one : command.processes) {
    with_.dumps.LetGo({one.process, one.attempt});
    with_.ports.Stopped({one.process, one.attempt});
    children_.Stop(one.process, one.attempt, command.signal, std::chrono::milliseconds(command.grace_ms));
  }
  if (!command.processes.empty()) state_.means.insert("process-group");
  return {};
}

std::string RunningProcesses::Do(const SignalProcess& command) {
  if (command.signal < 1 || command.signal > SIGRTMAX) return fmt::format("{} is not a signal", command.signal);
  children_.Disturb(command.who.process, command.who.attempt, command.signal);
  return {};
}

void RunningProcesses::OnExited(const ProcessExited& event) {
  ++state_.reaped;
  state_.means.insert(state_.process.launcher.mechanisms().pidfd ? "pidfd" : "sigchld");
  const Key key(event.process, event.attempt);
  with_.logs.Drain(key);
  with_.readiness.AttemptEnded(key);
  with_.usage.Ended(key);
  with_.terminals.Ended(key);
  with_.logs.Ended(key);
  for (const EndEvidence& evidence : inspector_.Ended(event)) state_.send(evidence);
  if (const auto running = table_.extract(key)) {
    const RunningProcess& process = running.mapped();
    for (const PortTaken& taken : with_.ports.Ended(event, process.log.ThroughDescriptor())) state_.send(taken);
    state_.host_folder.Ended(process.log_path);
    // Then the runtime has removed its container. One that was killed could not, and podman exits with 0 and leaves the
    // container if it gets SIGTERM while it starts it.
    if (!event.signalled && event.code == 0 && !process.signalled) FinalCommands::Ended(process.remove);
    if (!process.mark.empty()) with_.orphans.EndSoon(process.mark);
  }
  state_.send(event);
  // Exited orphans may have been queued behind this process, or become children of this one by its exit.
  with_.orphans.ReapSoon();
  state_.emptied();
}

void RunningProcesses::Finish() {
  with_.ports.Clear();
  if (!children_.empty()) state_.means.insert("process-group");
  children_.KillAll();
}

void RunningProcesses::Abandon() {
  with_.ports.Clear();
  children_.Abandon();
}

}  // namespace muster
