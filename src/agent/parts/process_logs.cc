#include "agent/parts/process_logs.h"

#include <utility>

#include <fcntl.h>

#include "agent/logs/log_collapse.h"
#include "agent/processes/log_files.h"
#include "base/system/clock.h"
#include "base/values/shell_quote.h"

namespace muster {

ProcessLogs::ProcessLogs(AgentState& state, std::function<void(const Key&)> replaced)
    : state_(state),
      times_(
          state.io,
          [this](const Key& key) {
            state_.send(FirstOutput{key.first, key.second, MonotonicNowNs()});
          },
          [this](const Key& key, const FileBelow& log) {
            if (collapses_ && state_.serving()) trims_.TooLong(key, log);
          }),
      pipes_(state.io,
             [this, replaced = std::move(replaced)](const Key& key) {
               times_.Replaced(key);
               replaced(key);
             }),
      trims_(state.io, state.process.launcher, state.process.program, [this] { state_.emptied(); }) {}

const char* ProcessLogs::Begin(const std::string& folder) {
  collapses_ = !state_.process.without.Has(Mechanism::kCollapse) && CanCollapse(state_.run_folder.At(folder));
  return collapses_ ? "collapse-range" : "log-pipe";
}

tl::expected<UniqueFd, SpawnError> ProcessLogs::Open(const StartProcess& command) {
  // The agent itself writes the output of a pseudo-terminal, and must not wait for itself to read a pipe.
  const bool by_pipe = command.log_limit > 0 && !collapses_ && !command.pty;
  const FileBelow file = state_.run_folder.At(command.log_path);
  auto log = CreateLogFile(file, by_pipe ? O_RDWR : O_WRONLY);
  if (!log)
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, log.error().error, Quoted(command.log_path)});
  if (!by_pipe) return log;
  auto pipe = pipes_.Open({command.process, command.attempt}, file, *std::move(log), command.log_limit);
  if (!pipe) return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, pipe.error(), "a pipe for the log"});
  return *std::move(pipe);
}

}  // namespace muster
