// The agent's starts: a process with its environment, log, descriptors and terminal, and how it is found to be ready.
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "agent/processes/environment_block.h"
#include "agent/processes/log_files.h"
#include "agent/processes/passed_text.h"
#include "agent/program/agent.h"
#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::size_t kDescriptorsPerChild = 3;  // the pidfd, for the handle and for the loop; the index of its log
constexpr std::size_t kDescriptorsPerText = 2;   // the text, and the launcher's duplicate of it
constexpr std::size_t kDescriptorsPerPipe = 3;   // its end, the log, and the file that takes the log's place
constexpr std::size_t kDescriptorsSpare = 16;    // log file, /proc, sockets: open only for a moment

}  // namespace

void Agent::Do(StartProcess& command) {
  if (finishing_) return Fail("a start after the finish");
  // An earlier attempt must be gone, with all it left behind, before there is another.
  if (command.attempt > 0) EndLeftovers();
  const auto block = environments_.find(command.environment);
  if (block == environments_.end()) return Fail(fmt::format("environment {} is not defined", command.environment));
  for (const std::string& variable : command.env) {
    if (!IsVariable(variable)) return Fail("no environment variable: " + Quoted(variable));
  }
  if (children_.Runs(command.process, command.attempt)) {
    return Fail(fmt::format("process {} attempt {} runs already", command.process, command.attempt));
  }
  folder_.ExpectAttempt(command.log_path);
  auto started = Start(command, block->second);
  if (started) {
    const pid_t own_pid = started->pid;
    if (space_) started->pid = space_->PidOf(own_pid);
    ++started_;
    Send(*started);
    witness_.Started(*started, command.cwd, command.log_path);
    ports_.Started(*started);
    ptys_.Began({command.process, command.attempt});
    const EnvironmentBlock own = ByName(command.env);
    const auto variable = [&](const char* name) {
      const auto found = own.find(name);
      if (found != own.end()) return found->second;
      const auto shared = block->second.find(name);
      return shared == block->second.end() ? std::string() : shared->second;
    };
    const FileBelow log = run_folder_.At(command.log_path);
    Running running{own_pid, command.log_path, log, {}, variable("PATH")};
    if (own.contains("MUSTER_PROCESS")) running.mark = variable("MUSTER_PROCESS");
    running.search_path.erase(0, running.search_path.find('=') + 1);
    running_.insert_or_assign({command.process, command.attempt}, std::move(running));
    log_times_.Began({command.process, command.attempt}, log, command.log_limit);
    folder_.Began(command.log_path, command.log_limit > 0);
    return WatchReady(command, block->second);
  }
  log_pipes_.Drop({command.process, command.attempt});
  SpawnFailed failed;
  failed.process = command.process;
  failed.attempt = command.attempt;
  failed.stage = SpawnStageName(started.error().stage);
  failed.error = started.error().error;
  failed.detail = started.error().detail;
  failed.at = MonotonicNowNs();
  Send(failed);
}

tl::expected<ProcessStarted, SpawnError> Agent::Start(const StartProcess& command, const EnvironmentBlock& block) {
  if (auto enough = CheckDescriptors(command); !enough) return tl::unexpected<SpawnError>(std::move(enough.error()));
  // Its context, its Python side and its files it opens by that path.
  if (run_folder_.held() && !run_folder_.IsInPlace()) {
    return tl::unexpected<SpawnError>(
        SpawnError{SpawnStage::kLog, ESTALE,
                   fmt::format("the run directory {} was moved, removed or replaced", Quoted(run_folder_.path()))});
  }

  SpawnSpec spec;
  spec.argv = command.argv;
  spec.search_dirs = command.search_dirs;
  spec.cwd = command.cwd;
  const EnvironmentBlock own = ByName(command.env);
  spec.env = Overlaid(block, own);
  // The agent has raised its own limit; a process gets what the user had.
  spec.limits.push_back({RLIMIT_NOFILE, process_.child_descriptors});
  spec.cores = command.cores;

  std::vector<UniqueFd> held_texts;
  for (const PassedText& passed : command.passed) {
    auto text = HoldText(passed.content);
    if (!text) return tl::unexpected<SpawnError>(std::move(text.error()));
    spec.passed.push_back({text->get(), passed.number});
    held_texts.push_back(std::move(*text));
  }

  auto log = OpenLog(command);
  if (!log) return tl::unexpected<SpawnError>(log.error());
  spec.stdout_fd = spec.stderr_fd = log->get();

  // As late as possible, so that nobody else gets in between.
  ports_.Release(command);
  if (FailsHere(Fault::kAgentBeforeClone)) {
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kClone, EAGAIN, "a fault hook"});
  }
  const PtySet::Key key(command.process, command.attempt);
  if (command.pty) {
    const auto terminal = ptys_.Open(key, *command.pty, std::move(*log));
    if (!terminal) return tl::unexpected<SpawnError>(terminal.error());
    spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = *terminal;
    spec.controlling_terminal = true;
  }
  auto started = children_.Start(command.process, command.attempt, std::move(spec));
  if (!started) ptys_.Drop(key);
  return started;
}

tl::expected<UniqueFd, SpawnError> Agent::OpenLog(const StartProcess& command) {
  // What comes out of a pseudo-terminal the agent writes itself, and must not wait for itself to read.
  const bool by_pipe = command.log_limit > 0 && !logs_collapse_ && !command.pty;
  const FileBelow file = run_folder_.At(command.log_path);
  auto log = CreateLogFile(file, by_pipe ? O_RDWR : O_WRONLY);
  if (!log)
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, log.error().error, Quoted(command.log_path)});
  if (!by_pipe) return log;
  auto pipe = log_pipes_.Open({command.process, command.attempt}, file, *std::move(log), command.log_limit);
  if (!pipe) return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, pipe.error(), "a pipe for the log"});
  return *std::move(pipe);
}

void Agent::WatchReady(const StartProcess& command, const EnvironmentBlock& block) {
  if (command.ready.kind == ReadyWhen::Kind::kNothing) return;
  const ReadyWatch::Key key(command.process, command.attempt);
  std::string file = run_folder_.At(command.log_path).ThroughDescriptor();
  if (command.ready.kind == ReadyWhen::Kind::kFile) {
    file = command.ready.text.starts_with('/') ? command.ready.text : command.cwd + '/' + command.ready.text;
  }
  if (command.ready.kind == ReadyWhen::Kind::kCommand) {
    const EnvironmentBlock own = ByName(command.env);
    const std::vector<const char*> variables = Overlaid(block, own);
    probe_starts_.insert_or_assign(
        key, Probe{command.ready.argv, command.search_dirs, command.cwd, {variables.begin(), variables.end()}});
  }
  ready_.Watch(key, command.ready, file);
}

void Agent::StartProbe(const ReadyWatch::Key& key) {
  const auto found = probe_starts_.find(key);
  if (found == probe_starts_.end() || finishing_) return;
  SpawnSpec spec;
  spec.argv = found->second.argv;
  spec.search_dirs = found->second.search_dirs;
  spec.cwd = found->second.cwd;
  spec.env = EnvPointers(found->second.env);
  // A command that cannot be started is one that does not succeed; the process's deadline will tell.
  if (!probes_.Start(key.first, key.second, std::move(spec))) ready_.OnProbeEnded(key, false);
}

void Agent::OnProbeExited(const ProcessExited& event) {
  ready_.OnProbeEnded({event.process, event.attempt}, !event.signalled && event.code == 0);
  if (finishing_) FinishIfEmpty();
}

tl::expected<void, SpawnError> Agent::CheckDescriptors(const StartProcess& command) const {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const std::size_t have = limit.rlim_cur;
  const std::size_t need =
      own_descriptors_ + ports_.held() + allotment_.held() +
      kDescriptorsPerChild * (children_.size() + probes_.size() + dumps_.size() + log_trims_.size() + 1) +
      kDescriptorsPerPipe * (log_pipes_.size() + 1) +
      PtySet::kDescriptorsPerPty * (ptys_.size() + (command.pty ? 1 : 0)) +
      kDescriptorsPerText * command.passed.size() + kDescriptorsSpare;
  if (need <= have) return {};
  return tl::unexpected<SpawnError>(
      SpawnError{SpawnStage::kDescriptors, EMFILE,
                 fmt::format("{} descriptors are needed for {} processes, RLIMIT_NOFILE allows {}", need,
                             children_.size() + 1, have)});
}

}  // namespace muster
