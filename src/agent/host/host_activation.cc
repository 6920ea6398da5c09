#include "agent/host/host_activation.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "agent/host/host_folder.h"
#include "base/system/clock.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"

namespace muster {
namespace {

// The descriptor to which the shell writes its output for the agent. Above the numbers that scripts usually use.
constexpr int kOutputDescriptor = 198;

// Markers in the output. A variable contains '='.
constexpr std::string_view kStepsFollow = "steps";
constexpr std::string_view kStep = "step";
constexpr std::string_view kNoModules = "no-modules";
constexpr std::string_view kNoConda = "no-conda";
constexpr std::string_view kVariablesFollow = "variables";
constexpr std::string_view kWhole = "whole";

// Arguments: kind and name of each step. The text is the same for all activations.
//
// Everything runs at the top level and without arguments, because sourced files read theirs and declare variables. Only
// shell builtins are used to output variables: a program would start with the sourced environment, and might fail. Only
// exported names are read, because nothing else reaches a process.
constexpr const char* kScript = R"bash(
muster_activation_steps=("$@")
set --
muster_activation_tell() { builtin printf '%s\0' "$1" >&"$muster_activation_output" || builtin exit 1; }
muster_activation_variables() {
  local IFS=$'\n' muster_activation_name
  for muster_activation_name in $(builtin compgen -e); do
    case $muster_activation_name in muster_activation_*) continue ;; esac
    [[ -z ${!muster_activation_name+x} ]] ||
      builtin printf '%s=%s\0' "$muster_activation_name" "${!muster_activation_name}" >&"$muster_activation_output" || builtin exit 1
  done
}
muster_activation_variables
muster_activation_tell steps
for ((muster_activation_at = 0; muster_activation_at < ${#muster_activation_steps[@]}; muster_activation_at += 2)); do
  muster_activation_what=${muster_activation_steps[muster_activation_at + 1]}
  muster_activation_tell step
  builtin printf 'muster: %s %s\n' "${muster_activation_steps[muster_activation_at]}" "$muster_activation_what"
  case ${muster_activation_steps[muster_activation_at]} in
    source)
      builtin source "$muster_activation_what"
      ;;
    module)
      for muster_activation_file in "${MODULESHOME:+$MODULESHOME/init/bash}" /etc/profile.d/modules.sh \
        /etc/profile.d/lmod.sh; do
        ! builtin declare -F module >/dev/null || break
        [[ ! -r $muster_activation_file ]] || builtin source "$muster_activation_file"
      done
      if builtin declare -F module >/dev/null; then
        module load "$muster_activation_what"
      else
        muster_activation_tell no-modules
        builtin exit 127
      fi
      ;;
    conda)
      if ! builtin declare -F conda >/dev/null; then
        muster_activation_file=${CONDA_EXE:-$(builtin type -P conda)}
        if [[ -r ${muster_activation_file%/*}/../etc/profile.d/conda.sh ]]; then
          builtin source "${muster_activation_file%/*}/../etc/profile.d/conda.sh"
        elif [[ -n $muster_activation_file ]]; then
          builtin eval "$("$muster_activation_file" shell.bash hook)"
        fi
      fi
      if builtin declare -F conda >/dev/null; then
        conda activate "$muster_activation_what"
      else
        muster_activation_tell no-conda
        builtin exit 127
      fi
      ;;
  esac
  muster_activation_status=$?
  builtin set +aefuvx +o pipefail
  ((muster_activation_status == 0)) || builtin exit "$muster_activation_status"
done
muster_activation_tell variables
muster_activation_variables
muster_activation_tell whole
)bash";

// No profile, no $BASH_ENV and no exported functions are read (-p).
std::vector<std::string> CommandLine(const std::string& shell, const std::vector<ActivationStep>& steps) {
  const std::string script = fmt::format("muster_activation_output={}\n{}", kOutputDescriptor, kScript);
  std::vector<std::string> line = {shell, "--noprofile", "--norc", "-p", "-c", script, "muster-activation"};
  for (const ActivationStep& step : steps) {
    line.emplace_back(ActivationKindName(step.kind));
    line.push_back(step.what);
  }
  return line;
}

// Variables that differ in every shell or after every change of directory.
bool IsTheShells(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"PWD", "OLDPWD", "SHLVL", "_"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string EndText(const ProcessExited& event) {
  return event.signalled ? fmt::format("ended by {}", SignalName(event.code)) : fmt::format("exit code {}", event.code);
}

std::string ErrorText(ActivationOutput::End end, const ProcessExited& event) {
  using End = ActivationOutput::End;
  switch (end) {
    case End::kWhole:
      return !event.signalled && event.code == 0 ? "" : "the shell failed after the last step: " + EndText(event);
    case End::kNoModules:
      return "there are no environment modules here: no $MODULESHOME/init/bash, /etc/profile.d/modules.sh or "
             "/etc/profile.d/lmod.sh makes a function `module`";
    case End::kNoConda:
      return "there is no conda here: neither $CONDA_EXE nor a conda on the PATH has a hook for shells";
    case End::kInStep:
      if (event.signalled || event.code != 0) return EndText(event);
      return "it exited the shell with exit code 0";
    case End::kOutsideStep:
      return fmt::format("the environment could not be read, it may be larger than {} MiB: {}",
                         HostActivation::kMaxOutputBytes >> 21, EndText(event));
  }
  return {};
}

// Whether the message is within the limits of the protocol.
bool Fits(const HostActivated& reported) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : reported.set) bytes += name.size() + value.size();
  for (const std::string& name : reported.unset) bytes += name.size();
  return bytes <= protocol_bounds::kEnvironment && reported.set.size() <= protocol_bounds::kVariables &&
         reported.unset.size() <= protocol_bounds::kVariables;
}

}  // namespace

ActivationOutput ParseActivationOutput(std::string_view bytes) {
  ActivationOutput output;
  std::map<std::string, std::string> before;
  std::map<std::string, std::string> after;
  std::map<std::string, std::string>* variables = &before;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) break;
    const std::string_view entry = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view name = entry.substr(0, equals);
      if (variables != nullptr && !name.empty() && !IsTheShells(name)) {
        variables->insert_or_assign(std::string(name), entry.substr(equals + 1));
      }
    } else if (entry == kStepsFollow) {
      variables = nullptr;
    } else if (entry == kStep) {
      ++output.reported.failed_step;
      output.end = ActivationOutput::End::kInStep;
    } else if (entry == kNoModules) {
      output.end = ActivationOutput::End::kNoModules;
    } else if (entry == kNoConda) {
      output.end = ActivationOutput::End::kNoConda;
    } else if (entry == kVariablesFollow) {
      output.reported.failed_step = 0;
      output.end = ActivationOutput::End::kOutsideStep;
      variables = &after;
    } else if (entry == kWhole) {
      output.end = ActivationOutput::End::kWhole;
      break;
    }
  }
  if (output.end != ActivationOutput::End::kWhole) return output;
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) output.reported.unset.push_back(name);
  }
  std::erase_if(after, [&](const auto& entry) {
    const auto was = before.find(entry.first);
    return was != before.end() && was->second == entry.second;
  });
  output.reported.set = std::move(after);
  return output;
}

HostActivation::HostActivation(boost::asio::io_context& io, Launcher& launcher, Done done, std::string shell)
    : io_(io),
      done_(std::move(done)),
      program_(std::move(shell)),
      shell_(
          io, launcher,
          {.exited = [this](const ProcessExited& event) { OnExited(event); }, .signalled = [](const SignalSent&) {}}),
      deadline_(io.get_executor()) {}

void HostActivation::Begin(const Activate& command, const FileBelow& log, const ResourceLimit& descriptors) {
  begun_ = true;
  began_at_ = MonotonicNowNs();
  within_ = std::chrono::milliseconds(command.within_ms);
  if (auto started = Start(command, log, descriptors); !started) {
    HostActivated reported;
    reported.error = fmt::format("bash cannot be started: {}", SpawnErrorText(started.error()));
    // Not before Begin() has returned, as with every other answer.
    boost::asio::post(io_, [this, reported = std::move(reported)]() mutable { Report(std::move(reported)); });
    return;
  }
  deadline_.expires_after(within_);
  deadline_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    late_ = true;
    Kill();
  });
}

tl::expected<void, SpawnError> HostActivation::Start(const Activate& command, const FileBelow& log_file,
                                                     const ResourceLimit& descriptors) {
  auto output = CreateMemoryFile("muster-activation", kMaxOutputBytes);
  if (!output) return tl::unexpected<SpawnError>(std::move(output.error()));
  auto log = CreateLogFile(log_file);
  if (!log) return tl::unexpected<SpawnError>(std::move(log.error()));
  output_ = std::move(*output);
  SpawnSpec spec;
  spec.argv = CommandLine(program_, command.steps);
  spec.env = EnvPointers(command.environment);
  spec.cwd = command.cwd;
  spec.stdout_fd = spec.stderr_fd = log->get();
  spec.passed.push_back({output_.get(), kOutputDescriptor});
  spec.limits.push_back(descriptors);
  auto started = shell_.Start(0, 0, std::move(spec));
  if (!started) return tl::unexpected<SpawnError>(std::move(started.error()));
  return {};
}

void HostActivation::Kill() { shell_.KillAll(); }

void HostActivation::Abandon() {
  deadline_.cancel();
  shell_.Abandon();
}

void HostActivation::OnExited(const ProcessExited& event) {
  deadline_.cancel();
  ActivationOutput parsed = ParseActivationOutput(ReadMemoryFile(output_.get(), kMaxOutputBytes));
  output_.reset();
  parsed.reported.error =
      late_ ? fmt::format("it took longer than {}", DurationText(static_cast<double>(within_.count()) / 1000))
            : ErrorText(parsed.end, event);
  if (parsed.reported.error.empty() && !Fits(parsed.reported)) {
    parsed.reported.error = fmt::format("its changes of the environment exceed {} KiB or {} variables",
                                        protocol_bounds::kEnvironment >> 10, protocol_bounds::kVariables);
  }
  if (!parsed.reported.error.empty()) {
    parsed.reported.set.clear();
    parsed.reported.unset.clear();
  }
  Report(std::move(parsed.reported));
}

void HostActivation::Report(HostActivated reported) {
  reported.took_ms = (MonotonicNowNs() - began_at_) / 1'000'000;
  done_(std::move(reported));
}

}  // namespace muster
