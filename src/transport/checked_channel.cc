#include "transport/checked_channel.h"

#include <algorithm>
#include <csignal>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/system/host_name.h"
#include "base/values/quoting.h"
#include "muster/result.h"

namespace muster {

MessageVerdict MessageVerdict::Stray(std::string why) { return {Kind::kStray, std::move(why)}; }

MessageVerdict MessageVerdict::Unfit(std::string why) { return {Kind::kUnfit, std::move(why)}; }

MessageVerdict MessageVerdict::OfAttempt(std::uint32_t process, std::uint32_t attempt, std::string_view what) {
  return Stray("process " + std::to_string(process) + " attempt " + std::to_string(attempt) + ": " + std::string(what));
}

MessageVerdict MessageVerdict::If(bool requested, std::string_view what) {
  return requested ? MessageVerdict() : Stray(std::string(what) + ", which was not requested");
}

bool TakeOne(std::uint32_t& count) {
  if (count == 0) return false;
  --count;
  return true;
}

namespace {

constexpr std::uint32_t kMaxEvidence = 4;    // per exit: a core dump, memory, a full disk
constexpr std::uint32_t kSignalsOfStop = 2;  // the ordered signal, and SIGKILL after it

}  // namespace

template <class Message>
ProcessExpectations::Attempt* ProcessExpectations::Of(const Message& message) {
  const auto found = attempts_.find(message.process);
  return found == attempts_.end() || found->second.number != message.attempt ? nullptr : &found->second;
}

template <class Message>
MessageVerdict ProcessExpectations::Counted(const Message& message, std::uint32_t Attempt::*count,
                                            std::string_view what) {
  Attempt* const attempt = Of(message);
  if (attempt != nullptr && TakeOne(attempt->*count)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, what);
}

void ProcessExpectations::Note(const StartProcess& command) {
  Attempt attempt;
  attempt.number = command.attempt;
  attempt.ready = command.ready.kind == ReadyWhen::Kind::kNothing ? 0 : 1;
  attempt.evidence = kMaxEvidence;
  attempt.ports = static_cast<std::uint32_t>(ports_.size() + 1);
  attempts_.insert_or_assign(command.process, attempt);
}

void ProcessExpectations::Note(const StopProcesses& command) {
  for (const ProcessAttempt& one : command.processes) {
    if (Attempt* const attempt = Of(one)) attempt->signals += kSignalsOfStop;
  }
}

void ProcessExpectations::Note(const Finish&) {
  for (auto& [process, attempt] : attempts_) ++attempt.signals;
}

MessageVerdict ProcessExpectations::On(const PortsHeld& message) {
  if (!TakeOne(holds_)) return MessageVerdict::If(false, "ports that are held");
  if (!message.error.empty()) return {};
  for (const PortRequest& port : message.ports) ports_.insert_or_assign(port.name, port.number);
  return {};
}

MessageVerdict ProcessExpectations::On(const ProcessStarted& message) {
  const MessageVerdict verdict = Counted(message, &Attempt::starts, "its start");
  if (verdict.why.empty()) attempts_.at(message.process).ends = 1;
  return verdict;
}

MessageVerdict ProcessExpectations::On(const SpawnFailed& message) {
  return Counted(message, &Attempt::starts, "a start that failed");
}

MessageVerdict ProcessExpectations::On(const ProcessExited& message) {
  return Counted(message, &Attempt::ends, "its end");
}

MessageVerdict ProcessExpectations::On(const SignalSent& message) {
  return Counted(message, &Attempt::signals, "a signal");
}

MessageVerdict ProcessExpectations::On(const ProcessReady& message) {
  return Counted(message, &Attempt::ready, "its readiness");
}

MessageVerdict ProcessExpectations::On(const OutputSeen& message) {
  if (!TakeOne(outputs_)) return MessageVerdict::If(false, "sizes of logs");
  if (message.bytes.size() != message.processes.size()) {
    return MessageVerdict::Stray("sizes of logs that are not one for each");
  }
  for (const ProcessId process : message.processes) {
    if (!attempts_.contains(process)) return MessageVerdict::Stray("the log of process " + std::to_string(process));
  }
  return {};
}

MessageVerdict ProcessExpectations::On(const FirstOutput& message) {
  return Counted(message, &Attempt::output, "its first output");
}

MessageVerdict ProcessExpectations::On(const EndEvidence& message) {
  return Counted(message, &Attempt::evidence, "evidence about its end");
}

MessageVerdict ProcessExpectations::On(const PortTaken& message) {
  const auto port = ports_.find(message.port);
  if (port == ports_.end() || port->second != message.number) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "port " + std::to_string(message.number));
  }
  return Counted(message, &Attempt::ports, "a port that is taken");
}

// An attempt may have been replaced while the sample was on its way.
MessageVerdict ProcessExpectations::On(const UsageSampled& message) const {
  if (!samples_) return MessageVerdict::If(false, "a sample of resource usage");
  std::optional<ProcessId> previous;
  for (const ProcessUsage& usage : message.processes) {
    const auto found = attempts_.find(usage.process);
    if (found == attempts_.end() || usage.attempt > found->second.number) {
      return MessageVerdict::OfAttempt(usage.process, usage.attempt, "its resource usage");
    }
    if (previous && usage.process <= *previous) return MessageVerdict::Stray("resource usage that is not in order");
    previous = usage.process;
  }
  return {};
}

template <class Message>
TerminalExpectations::Terminal* TerminalExpectations::Of(const Message& message) {
  const auto found = terminals_.find(message.process);
  return found == terminals_.end() || found->second.attempt != message.attempt ? nullptr : &found->second;
}

void TerminalExpectations::Note(const StartProcess& command) {
  terminals_.erase(command.process);
  if (!command.pty) return;
  terminals_[command.process] = {.attempt = command.attempt, .written = kPtyWindow + kMaxPtyRest};
}

void TerminalExpectations::Note(const PtyBytes& command) {
  if (Terminal* const terminal = Of(command)) terminal->typed += command.bytes.size();
}

void TerminalExpectations::Note(const PtyTaken& command) {
  if (Terminal* const terminal = Of(command)) terminal->written += command.count;
}

MessageVerdict TerminalExpectations::On(const PtyOpened& message) {
  Terminal* const terminal = Of(message);
  if (terminal != nullptr && TakeOne(terminal->opens)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "its terminal");
}

MessageVerdict TerminalExpectations::On(const PtyClosed& message) {
  Terminal* const terminal = Of(message);
  if (terminal != nullptr && TakeOne(terminal->closes)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "the end of its terminal");
}

MessageVerdict TerminalExpectations::On(const PtyBytes& message) {
  Terminal* const terminal = Of(message);
  if (terminal == nullptr || terminal->written < message.bytes.size()) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "output to its terminal");
  }
  terminal->written -= message.bytes.size();
  return {};
}

MessageVerdict TerminalExpectations::On(const PtyTaken& message) {
  Terminal* const terminal = Of(message);
  if (terminal == nullptr || terminal->typed < message.count) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "input from its terminal");
  }
  terminal->typed -= message.count;
  return {};
}

std::string_view FileExpectations::Below(std::string_view path) const {
  if (run_dir_.empty() || !path.starts_with(run_dir_) || path.size() <= run_dir_.size() ||
      path[run_dir_.size()] != '/') {
    return {};
  }
  return path.substr(run_dir_.size() + 1);
}

void FileExpectations::Note(const TakeDump& command) {
  for (const DumpTarget& one : command.processes) files_.AddFile(Below(one.path));
}

MessageVerdict FileExpectations::On(const AgentReady& message) {
  if (message.version == kProtocolVersion) shares_files_ = message.shares_run_dir;
  return {};
}

MessageVerdict FileExpectations::On(const FileBytes& message) {
  if (shares_files_) return MessageVerdict::If(false, "a file");
  return files_.Take(message.path) ? MessageVerdict() : MessageVerdict::Stray("a file that is not its own");
}

MessageVerdict FileExpectations::On(const FilesSent&) {
  const bool expected = !shares_files_ && finishing_ && !std::exchange(files_sent_, true);
  return MessageVerdict::If(expected, "the end of its files");
}

namespace {

constexpr std::uint32_t kCodeTries = 3;  // for an agent that waits while another run copies the code

// Whether the path is absolute and free of characters that have a meaning in the text into which it is inserted.
bool IsPlainFolder(const std::string& path) {
  return path.starts_with('/') && path.size() <= protocol_bounds::kPath && IsPlain(path, " ");
}

}  // namespace

void CodeExpectations::Note(const OfferCode& command) {
  if (!command.last) return;
  lists_ = kCodeTries;
  awaited_ = true;
}

MessageVerdict CodeExpectations::On(const CodeMissing&) {
  return MessageVerdict::If(TakeOne(lists_), "a list of missing code");
}

MessageVerdict CodeExpectations::On(const CodeReceived&) const {
  return MessageVerdict::If(awaited_, "code that it has received");
}

MessageVerdict CodeExpectations::On(const CodeReady& message) {
  if (!std::exchange(awaited_, false)) return MessageVerdict::If(false, "code that is ready");
  lists_ = 0;
  if (!message.error.empty() || IsPlainFolder(message.folder)) return {};
  return MessageVerdict::Unfit("the folder of its code is invalid");
}

void DumpExpectations::Note(const TakeDump& command) {
  // Results of the previous dump may still be on their way.
  std::erase_if(dumps_, [&](std::uint32_t dump) { return dump + 1 < command.dump; });
  std::erase_if(dumped_, [&](const Dumped& one) { return one.dump + 1 < command.dump; });
  dumps_.insert(command.dump);
  for (const DumpTarget& one : command.processes) dumped_.insert({command.dump, one.process, one.attempt});
}

MessageVerdict DumpExpectations::On(const ProcessDumped& message) {
  if (dumped_.erase({message.dump, message.process, message.attempt}) > 0) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "dump " + std::to_string(message.dump));
}

MessageVerdict DumpExpectations::On(const HostDumped& message) {
  return MessageVerdict::If(dumps_.erase(message.dump) > 0, "dump " + std::to_string(message.dump));
}

namespace {

// Whether the list is valid: not empty, ascending, within the range of core numbers.
bool AreCores(const std::vector<std::uint32_t>& cores) {
  return !cores.empty() && cores.back() < protocol_bounds::kCores &&
         std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()) == cores.end();
}

}  // namespace

void HostExpectations::Note(const AllocateResources& command) {
  allocates_ = true;
  awaits_ = command.wait_ms > 0 && !command.devices.empty();
}

MessageVerdict HostExpectations::On(const AgentReady& message) {
  if (!std::exchange(greeted_, false)) return MessageVerdict::If(false, "a greeting");
  ready_ = true;
  if (message.version != kProtocolVersion) return {};  // the host is refused in any case
  if (!IsHostOrAddress(message.host_name)) return MessageVerdict::Unfit("the name of its host is invalid");
  if (!message.address.empty() && !IsHostOrAddress(message.address)) {
    return MessageVerdict::Unfit("the address of its host is invalid");
  }
  return {};
}

MessageVerdict HostExpectations::On(const AgentFailed&) {
  return MessageVerdict::If(!std::exchange(failed_, true), "a second refusal");
}

MessageVerdict HostExpectations::On(const AgentSignalled& message) {
  return MessageVerdict::If(message.signal == SIGTERM && !std::exchange(signalled_, true), "a signal to itself");
}

MessageVerdict HostExpectations::On(const ResourcesAllocated& message) {
  if (!std::exchange(allocates_, false)) return MessageVerdict::If(false, "devices and cores");
  awaits_ = false;
  if (!message.error.empty()) return {};
  for (const std::string& device : message.devices) {
    if (device.empty() || !IsPlain(device)) {
      return MessageVerdict::Unfit("a device that it allocated has an invalid name");
    }
  }
  if (std::all_of(message.cores.begin(), message.cores.end(), AreCores)) return {};
  return MessageVerdict::Unfit("the cores that it allocated are invalid");
}

MessageVerdict HostExpectations::On(const DevicesAwaited&) {
  return MessageVerdict::If(std::exchange(awaits_, false), "a wait for devices");
}

MessageVerdict HostExpectations::On(const HostActivated&) {
  return MessageVerdict::If(std::exchange(activates_, false), "an activation");
}

MessageVerdict HostExpectations::On(const Inspected&) {
  return MessageVerdict::If(std::exchange(inspects_, false), "facts about its host");
}

MessageVerdict HostExpectations::On(const PathsOpen&) {
  return MessageVerdict::If(TakeOne(openings_), "open network paths");
}

MessageVerdict HostExpectations::On(const PathsProbed& message) {
  const auto tries = std::exchange(tries_, std::nullopt);
  if (!tries) return MessageVerdict::If(false, "checked network paths");
  if (message.errors.size() == *tries) return {};
  return MessageVerdict::Unfit("it checked other paths than requested");
}

MessageVerdict HostExpectations::On(const FromAgent& message) const {
  if (agents_.contains(message.number)) return {};
  return MessageVerdict::Stray("agent " + std::to_string(message.number) + " below it");
}

MessageVerdict HostExpectations::On(const AgentExited& message) {
  if (agents_.erase(message.number) > 0) return {};
  return MessageVerdict::Stray("the end of agent " + std::to_string(message.number) + " below it");
}

MessageVerdict HostExpectations::On(const DiskFilled&) {
  return MessageVerdict::If(TakeOne(fillings_), "a disk that it has filled");
}

namespace {

template <class Message, class... Listed>
constexpr bool kIsOneOf = (std::is_same_v<Message, Listed> || ...);

// Messages that the channel creates itself; the caller decides what an end means.
template <class Message>
constexpr bool kOfChannel = kIsOneOf<Message, AgentEmpty, AgentLost, AgentUnreachable, ClockCompared, HostCleared,
                                     HostUnheard, HostPaused, StrayMessage>;

// Messages that may come before the greeting.
template <class Message>
constexpr bool kMayBeFirst = kOfChannel<Message> || kIsOneOf<Message, AgentReady, AgentFailed>;

template <class Part, class Command>
void NoteIn(Part& part, const Command& command) {
  if constexpr (requires { part.Note(command); }) part.Note(command);
}

template <class Part, class Message>
constexpr bool kJudges = requires(Part part, const Message& message) {
  part.On(message);
};

template <class Part, class Message>
void JudgeIn(Part& part, const Message& message, MessageVerdict& verdict) {
  if constexpr (kJudges<Part, Message>) {
    if (verdict.why.empty()) verdict = part.On(message);
  }
}

}  // namespace

void AgentMessageValidator::Gave(const AgentCommand& command) {
  std::visit([this](const auto& held) { std::apply([&](auto&... part) { (NoteIn(part, held), ...); }, parts_); },
             command);
}

MessageVerdict AgentMessageValidator::Judge(const ChannelMessage& message) {
  return std::visit(
      [this]<class Message>(const Message& held) -> MessageVerdict {
        if (!kMayBeFirst<Message> && !std::get<HostExpectations>(parts_).ready()) {
          return MessageVerdict::Stray("it sent a message before its greeting");
        }
        return std::apply(
            [&]<class... Part>(Part&... part) {
              static_assert(kOfChannel<Message> || (kJudges<Part, Message> || ...), "no part judges this message");
              MessageVerdict verdict;
              (JudgeIn(part, held, verdict), ...);
              return verdict;
            },
            parts_);
      },
      message);
}

// Outlives the channel while a message is delivered: its receiver may destroy the channel.
struct CheckedChannel::State : std::enable_shared_from_this<State> {
  void Hear(ChannelMessage message) {
    if (!receiver) return;
    const MessageVerdict verdict = given.Judge(message);
    switch (verdict.kind) {
      case MessageVerdict::Kind::kBelongs:
        return Notify(std::move(message));
      case MessageVerdict::Kind::kStray:
        return Stray(verdict.why);
      case MessageVerdict::Kind::kUnfit:
        return Refuse(verdict.why, std::holds_alternative<AgentReady>(message));
    }
  }

  void Stray(const std::string& why) {
    if (broken) return;
    const auto keep = shared_from_this();
    ++strays;
    Notify(StrayMessage{why});
    if (strays > kMaxStrays && below && !std::exchange(broken, true)) {
      below->BreakOff("too many unexpected messages, last: " + why);
    }
  }

  void Refuse(const std::string& why, bool greeting) {
    if (!below || std::exchange(broken, true)) return;
    const auto keep = shared_from_this();
    // The agent has started nothing yet, so how its connection ends does not matter.
    const Receiver to = greeting ? std::exchange(receiver, nullptr) : Receiver();
    below->BreakOff(why);
    if (to) to(AgentUnreachable{"its agent: " + why, {}});
  }

  void Notify(ChannelMessage message) {
    const Receiver to = receiver;
    if (to) to(std::move(message));
  }

  std::unique_ptr<UncheckedChannel> below;
  Receiver receiver;
  AgentMessageValidator given;
  std::uint32_t strays = 0;
  bool broken = false;
};

CheckedChannel::CheckedChannel(std::unique_ptr<UncheckedChannel> below) : state_(std::make_shared<State>()) {
  state_->below = std::move(below);
  state_->below->SetReceiver([weak = std::weak_ptr(state_)](ChannelMessage message) {
    if (const auto state = weak.lock()) state->Hear(std::move(message));
  });
}

CheckedChannel::~CheckedChannel() {
  state_->receiver = nullptr;
  const std::unique_ptr<UncheckedChannel> last = std::move(state_->below);
}

void CheckedChannel::Send(const AgentCommand& command) {
  state_->given.Gave(command);
  if (!state_->broken) state_->below->Send(command);
}

void CheckedChannel::ExpectAnswer(bool at_once) {
  if (!state_->broken) state_->below->ExpectAnswer(at_once);
}

bool CheckedChannel::Hold(bool held) { return !state_->broken && state_->below->Hold(held); }

void CheckedChannel::SetReceiver(Receiver receiver) { state_->receiver = std::move(receiver); }

Result<std::unique_ptr<Channel>> Transport::Connect(boost::asio::io_context& io, const TransportHost& host) {
  Result<std::unique_ptr<UncheckedChannel>> channel = Open(io, host);
  if (!channel) return Fail(std::move(channel.error()));
  return std::make_unique<CheckedChannel>(std::move(*channel));
}

}  // namespace muster
