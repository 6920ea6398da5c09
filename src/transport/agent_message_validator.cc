#include "transport/agent_message_validator.h"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <variant>

#include "base/system/host_name.h"
#include "base/values/plain_text.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {
namespace {

using Verdict = AgentMessageValidator::Verdict;

constexpr std::uint32_t kMostEvidence = 4;   // per exit: a core dump, memory, a full disk
constexpr std::uint32_t kCodeTries = 3;      // for an agent that waits while another run copies the code
constexpr std::uint32_t kSignalsOfStop = 2;  // the ordered signal, and SIGKILL after it

Verdict Stray(std::string why) { return {Verdict::Kind::kStray, std::move(why)}; }
Verdict Unfit(std::string why) { return {Verdict::Kind::kUnfit, std::move(why)}; }

Verdict OfAttempt(ProcessId process, std::uint32_t attempt, std::string_view what) {
  return Stray("process " + std::to_string(process) + " attempt " + std::to_string(attempt) + ": " + std::string(what));
}

Verdict Unasked(std::string_view what) { return Stray(std::string(what) + ", which was not requested"); }

// Whether the list is valid: not empty, ascending, within the range of core numbers.
bool AreCores(const std::vector<std::uint32_t>& cores) {
  return !cores.empty() && cores.back() < protocol_bounds::kCores &&
         std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()) == cores.end();
}

// Whether the path is absolute and free of characters that have a meaning in the text into which it is inserted.
bool IsPlainFolder(const std::string& path) {
  return path.starts_with('/') && path.size() <= protocol_bounds::kPath && IsPlain(path, " ");
}

}  // namespace

void AgentMessageValidator::Gave(const AgentCommand& command) {
  std::visit([this](const auto& held) { Note(held); }, command);
}

AgentMessageValidator::Verdict AgentMessageValidator::Judge(const ChannelMessage& message) {
  return std::visit(
      [this](const auto& held) -> Verdict {
        using Message = std::decay_t<decltype(held)>;
        constexpr bool kBefore = std::is_same_v<Message, AgentReady> || std::is_same_v<Message, AgentFailed> ||
                                 std::is_same_v<Message, AgentEmpty> || std::is_same_v<Message, AgentLost> ||
                                 std::is_same_v<Message, AgentUnreachable> || std::is_same_v<Message, ClockCompared>;
        if (!kBefore && !ready_) return Stray("it sent a message before its greeting");
        return On(held);
      },
      message);
}

std::string_view AgentMessageValidator::Below(std::string_view path) const {
  if (run_dir_.empty() || !path.starts_with(run_dir_) || path.size() <= run_dir_.size() ||
      path[run_dir_.size()] != '/') {
    return {};
  }
  return path.substr(run_dir_.size() + 1);
}

// --- commands to the agent -----------------------------------------------------------------------

void AgentMessageValidator::Note(const Hello& command) {
  run_dir_ = command.run_dir;
  greeted_ = true;
}

void AgentMessageValidator::Note(const HoldPorts& command) { holds_.push_back(command); }

void AgentMessageValidator::Note(const AllocateResources& command) {
  allots_ = command;
  awaits_ = command.wait_ms > 0 && !command.devices.empty();
}

void AgentMessageValidator::Note(const Activate& command) {
  activates_ = true;
  files_.AddFile(Below(command.log_path));
}

void AgentMessageValidator::Note(const StartProcess& command) {
  Attempt attempt;
  attempt.number = command.attempt;
  attempt.ready = command.ready.kind != ReadyWhen::Kind::kNothing;
  attempt.output = true;
  attempt.terminal = attempt.opens = attempt.closes = command.pty.has_value();
  attempt.evidence = kMostEvidence;
  attempt.ports = static_cast<std::uint32_t>(ports_.size() + 1);
  attempt.written = kPtyWindow + kMaxPtyRest;
  attempts_.insert_or_assign(command.process, attempt);
  files_.AddAttempt(Below(command.log_path));
}

void AgentMessageValidator::Note(const StopProcesses& command) {
  for (const ProcessAttempt& one : command.processes) {
    if (Attempt* const attempt = Of(one)) attempt->signals += kSignalsOfStop;
  }
}

void AgentMessageValidator::Note(const Finish& command) {
  static_cast<void>(command);
  finishing_ = true;
  for (auto& [process, attempt] : attempts_) ++attempt.signals;
}

void AgentMessageValidator::Note(const RequestOutput& command) {
  static_cast<void>(command);
  ++outputs_;
}

void AgentMessageValidator::Note(const TakeDump& command) {
  // Results of the previous dump may still be on their way.
  std::erase_if(dumps_, [&](std::uint32_t dump) { return dump + 1 < command.dump; });
  std::erase_if(dumped_, [&](const Dumped& one) { return one.dump + 1 < command.dump; });
  dumps_.insert(command.dump);
  for (const DumpTarget& one : command.processes) {
    dumped_.insert({command.dump, one.process, one.attempt});
    files_.AddFile(Below(one.path));
  }
}

void AgentMessageValidator::Note(const PtyBytes& command) {
  if (Attempt* const attempt = Of(command)) attempt->typed += command.bytes.size();
}

void AgentMessageValidator::Note(const PtyTaken& command) {
  if (Attempt* const attempt = Of(command)) attempt->written += command.count;
}

void AgentMessageValidator::Note(const Inspect& command) {
  static_cast<void>(command);
  inspects_ = true;
}

void AgentMessageValidator::Note(const OpenPaths& command) {
  static_cast<void>(command);
  ++openings_;
}

void AgentMessageValidator::Note(const ProbePaths& command) { tries_ = command.targets.size(); }

void AgentMessageValidator::Note(const ClosePaths& command) {
  static_cast<void>(command);
  ++openings_;
}

void AgentMessageValidator::Note(const OfferCode& command) {
  if (!command.last) return;
  code_lists_ = kCodeTries;
  code_ready_ = true;
}

void AgentMessageValidator::Note(const OpenAgent& command) { agents_.insert(command.number); }

// --- messages from the agent ---------------------------------------------------------------------

template <class Message>
AgentMessageValidator::Attempt* AgentMessageValidator::Of(const Message& message) {
  const auto found = attempts_.find(message.process);
  return found == attempts_.end() || found->second.number != message.attempt ? nullptr : &found->second;
}

template <class Message>
AgentMessageValidator::Verdict AgentMessageValidator::Once(const Message& message, bool Attempt::*flag,
                                                           std::string_view what) {
  Attempt* const attempt = Of(message);
  if (attempt == nullptr || !std::exchange(attempt->*flag, false)) {
    return OfAttempt(message.process, message.attempt, what);
  }
  return {};
}

template <class Message>
AgentMessageValidator::Verdict AgentMessageValidator::Counted(const Message& message, std::uint32_t Attempt::*count,
                                                              std::string_view what) {
  Attempt* const attempt = Of(message);
  if (attempt == nullptr || attempt->*count == 0) return OfAttempt(message.process, message.attempt, what);
  --(attempt->*count);
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const AgentReady& message) {
  if (!std::exchange(greeted_, false)) return Unasked("a greeting");
  ready_ = true;
  if (message.version != kProtocolVersion) return {};  // the host is refused in any case
  shares_files_ = message.shares_run_dir;
  if (!IsHostOrAddress(message.host_name)) return Unfit("the name of its host is invalid");
  if (!message.address.empty() && !IsHostOrAddress(message.address)) return Unfit("the address of its host is invalid");
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PortsHeld& message) {
  if (holds_.empty()) return Unasked("ports that are held");
  holds_.erase(holds_.begin());
  if (!message.error.empty()) return {};
  for (const PortRequest& port : message.ports) ports_.insert_or_assign(port.name, port.number);
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const AgentFailed& message) {
  static_cast<void>(message);
  return std::exchange(failed_, true) ? Unasked("a second refusal") : Verdict();
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const ProcessStarted& message) {
  if (const Verdict verdict = Once(message, &Attempt::starts, "its start"); !verdict.why.empty()) return verdict;
  attempts_.at(message.process).ends = true;
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const SpawnFailed& message) {
  return Once(message, &Attempt::starts, "a start that failed");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const ProcessExited& message) {
  return Once(message, &Attempt::ends, "its end");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const SignalSent& message) {
  return Counted(message, &Attempt::signals, "a signal");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const ProcessReady& message) {
  return Once(message, &Attempt::ready, "its readiness");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const OutputSeen& message) {
  if (outputs_ == 0) return Unasked("sizes of logs");
  --outputs_;
  if (message.bytes.size() != message.processes.size()) return Stray("sizes of logs that are not one for each");
  for (const ProcessId process : message.processes) {
    if (!attempts_.contains(process)) return Stray("the log of process " + std::to_string(process));
  }
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const FirstOutput& message) {
  return Once(message, &Attempt::output, "its first output");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const EndEvidence& message) {
  return Counted(message, &Attempt::evidence, "evidence about its end");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PortTaken& message) {
  const auto port = ports_.find(message.port);
  if (port == ports_.end() || port->second != message.number) {
    return OfAttempt(message.process, message.attempt, "port " + std::to_string(message.number));
  }
  return Counted(message, &Attempt::ports, "a port that is taken");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const ProcessDumped& message) {
  if (dumped_.erase({message.dump, message.process, message.attempt}) > 0) return {};
  return OfAttempt(message.process, message.attempt, "dump " + std::to_string(message.dump));
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const HostDumped& message) {
  return dumps_.erase(message.dump) > 0 ? Verdict() : Unasked("dump " + std::to_string(message.dump));
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PtyOpened& message) {
  return Once(message, &Attempt::opens, "its terminal");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PtyClosed& message) {
  return Once(message, &Attempt::closes, "the end of its terminal");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PtyBytes& message) {
  Attempt* const attempt = Of(message);
  if (attempt == nullptr || !attempt->terminal || attempt->written < message.bytes.size()) {
    return OfAttempt(message.process, message.attempt, "output to its terminal");
  }
  attempt->written -= message.bytes.size();
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PtyTaken& message) {
  Attempt* const attempt = Of(message);
  if (attempt == nullptr || attempt->typed < message.count) {
    return OfAttempt(message.process, message.attempt, "input from its terminal");
  }
  attempt->typed -= message.count;
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const ResourcesAllocated& message) {
  if (!allots_) return Unasked("devices and cores");
  allots_.reset();
  awaits_ = false;
  if (!message.error.empty()) return {};
  for (const std::string& device : message.devices) {
    if (device.empty() || !IsPlain(device)) return Unfit("a device that it allocated has an invalid name");
  }
  if (!std::all_of(message.cores.begin(), message.cores.end(), AreCores))
    return Unfit("the cores that it allocated are invalid");
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const DevicesAwaited& message) {
  static_cast<void>(message);
  return std::exchange(awaits_, false) ? Verdict() : Unasked("a wait for devices");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const HostActivated& message) {
  static_cast<void>(message);
  return std::exchange(activates_, false) ? Verdict() : Unasked("an activation");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const FileBytes& message) {
  if (shares_files_) return Unasked("a file");
  return files_.Take(message.path) ? Verdict() : Stray("a file that is not its own");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const FilesSent& message) {
  static_cast<void>(message);
  if (shares_files_ || !finishing_ || std::exchange(files_sent_, true)) return Unasked("the end of its files");
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const Inspected& message) {
  static_cast<void>(message);
  return std::exchange(inspects_, false) ? Verdict() : Unasked("facts about its host");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PathsOpen& message) {
  static_cast<void>(message);
  if (openings_ == 0) return Unasked("open network paths");
  --openings_;
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const PathsProbed& message) {
  const auto tries = std::exchange(tries_, std::nullopt);
  if (!tries) return Unasked("checked network paths");
  return message.errors.size() == *tries ? Verdict() : Unfit("it checked other paths than requested");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const CodeMissing& message) {
  static_cast<void>(message);
  if (code_lists_ == 0) return Unasked("a list of missing code");
  --code_lists_;
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const CodeReceived& message) const {
  static_cast<void>(message);
  return code_ready_ ? Verdict() : Unasked("code that it has received");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const CodeReady& message) {
  if (!std::exchange(code_ready_, false)) return Unasked("code that is ready");
  code_lists_ = 0;
  if (message.error.empty() && !IsPlainFolder(message.folder)) return Unfit("the folder of its code is invalid");
  return {};
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const FromAgent& message) const {
  return agents_.contains(message.number) ? Verdict() : Stray("agent " + std::to_string(message.number) + " below it");
}

AgentMessageValidator::Verdict AgentMessageValidator::On(const AgentExited& message) {
  if (agents_.erase(message.number) > 0) return {};
  return Stray("the end of agent " + std::to_string(message.number) + " below it");
}

}  // namespace muster
